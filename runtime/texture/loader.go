package texture

import (
	"context"
	"errors"

	"github.com/untoldkit/untold/internal/mailbox"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// ErrClosed is the answer of a closed Loader.
var ErrClosed = errors.New("texture: the loader is closed")

// Loader reads textures for a Streamer.
type Loader interface {
	// Start begins to read and returns at once. It is called on the owner
	// goroutine of the Streamer, with requests in ascending Token order. Every
	// request is answered exactly once by req.Done.Loaded, from any goroutine and
	// at any later time, also after its Context was cancelled.
	Start(req Request)
}

// Request asks for a texture at a size.
type Request struct {
	// Token is unique and ascends in the order of requests. Answers whose token
	// is no longer current are dropped.
	Token uint64
	Dir   string // the folder that URI is relative to
	URI   string // as the payload has it: not to be trusted
	Use   texfile.Use
	// Cutoff is that of the Slot.
	Cutoff float32
	// MaxSize is the longest edge of the first level in texels: larger levels
	// of the file are not wanted. At least 1.
	MaxSize int
	Context context.Context
	Done    *Completions
}

// Completions collects the answers of a Loader until the next Update. Its
// methods are safe for concurrent use and do not wait.
type Completions struct{ box mailbox.Mailbox[completion] }

type completion struct {
	token uint64
	image *texfile.Image
	err   error
}

// Order is the token.
func (c completion) Order() uint64 { return c.token }

func newCompletions() *Completions { return &Completions{mailbox.New[completion]()} }

// Loaded answers a request with an image, or with an error.
func (c *Completions) Loaded(token uint64, img *texfile.Image, err error) {
	c.box.Push(completion{token, img, err})
}
