package runtime

import "github.com/untoldkit/untold/internal/mailbox"

// Completions collects the answers of loaders and fetchers until the next
// Update. Its methods are safe for concurrent use and never block.
type Completions struct {
	box    mailbox.Mailbox[completion]
	divert func(completion) // takes the answers instead of the box, when set
}

// Intercept returns Completions that hand over every answer at once, in the
// goroutine that gives it: for a Loader or a Fetcher that stands in front of
// another one and answers later, or with something else. A nil function drops
// its answers.
func Intercept(loaded func(token uint64, r Result), fetched func(token uint64, local Fetched, err error)) *Completions {
	return &Completions{divert: func(x completion) {
		switch {
		case x.fetched && fetched != nil:
			fetched(x.token, x.local, x.result.Err)
		case !x.fetched && loaded != nil:
			loaded(x.token, x.result)
		case !x.fetched:
			x.result.Asset.Release()
		}
	}}
}

// completion is one answer: of a Fetcher when fetched is set, else of a Loader.
type completion struct {
	token   uint64
	fetched bool
	local   Fetched
	result  Result
}

// Order is the token: that of two answers, fetched, then loaded.
func (c completion) Order() uint64 { return c.token }

// Loaded answers a Loader's request.
func (c *Completions) Loaded(token uint64, r Result) {
	if !c.post(completion{token: token, result: r}) {
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
	c.post(completion{token: token, fetched: true, local: local, result: Result{Err: err}})
}

func (c *Completions) post(x completion) bool {
	if c.divert != nil {
		c.divert(x)
		return true
	}
	return c.box.Push(x)
}

// close drops what is queued and everything that comes later.
func (c *Completions) close() {
	for _, x := range c.box.Close() {
		x.result.Asset.Release()
	}
}
