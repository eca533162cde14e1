package payload

import "github.com/untoldkit/untold/internal/mailbox"

// Completions collects the answers of loaders and fetchers until the next
// Update. Its methods are safe for concurrent use and never block.
type Completions struct {
	box    mailbox.Mailbox[Answer]
	divert func(Answer) // takes the answers instead of the box, when set
}

// NewCompletions returns Completions that collect for Take.
func NewCompletions() *Completions { return &Completions{box: mailbox.New[Answer]()} }

// Intercept returns Completions that hand over every answer at once, in the
// goroutine that gives it: for a Loader or a Fetcher that stands in front of
// another one and answers later, or with something else. A nil function drops
// its answers.
func Intercept(loaded func(token uint64, r Result), fetched func(token uint64, local Fetched, err error)) *Completions {
	return &Completions{divert: func(x Answer) {
		switch {
		case x.Fetched && fetched != nil:
			fetched(x.Token, x.Local, x.Result.Err)
		case !x.Fetched && loaded != nil:
			loaded(x.Token, x.Result)
		case !x.Fetched:
			x.Result.Asset.Release()
		}
	}}
}

// Answer is one answer to a request: of a Fetcher when Fetched is set, else of a
// Loader.
type Answer struct {
	Token   uint64
	Fetched bool
	Local   Fetched
	Result  Result // of a Fetcher only the error
}

// Order is the Token: that of two answers, fetched, then loaded.
func (a Answer) Order() uint64 { return a.Token }

// Loaded answers a Loader's request.
func (c *Completions) Loaded(token uint64, r Result) {
	if !c.post(Answer{Token: token, Result: r}) {
		r.Asset.Release()
	}
}

// Fetched is what a Fetcher brought.
type Fetched struct {
	File string // path of the payload on the local disk
	// Dir is the folder that the payload's texture URIs are relative to; "": the
	// folder of File.
	Dir string
	// Ranges is set in the place of File when the payload comes in parts: its
	// tables have been brought. Only where Request.Split allows it.
	Ranges Ranges
}

// Fetched answers a Fetcher's request with a local file, or an error.
func (c *Completions) Fetched(token uint64, local Fetched, err error) {
	c.post(Answer{Token: token, Fetched: true, Local: local, Result: Result{Err: err}})
}

func (c *Completions) post(x Answer) bool {
	if c.divert != nil {
		c.divert(x)
		return true
	}
	return c.box.Push(x)
}

// Take moves the answers that have come to dst[:0], by token.
func (c *Completions) Take(dst []Answer) []Answer { return c.box.Drain(dst) }

// Ready has a value while answers wait for Take, or after Notify.
func (c *Completions) Ready() <-chan struct{} { return c.box.Ready() }

// Notify makes Ready readable without an answer.
func (c *Completions) Notify() { c.box.Notify() }

// Close drops what is queued and everything that comes later.
func (c *Completions) Close() {
	for _, x := range c.box.Close() {
		x.Result.Asset.Release()
	}
}
