package texture

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrTimeout is matched by the error of a texture that was on its way for too
// long.
var ErrTimeout = errors.New("texture: it did not come in time")

// defaultTimeout is that of the other tiers.
const defaultTimeout = 60 * time.Second

// load is a texture on its way: being read, then being uploaded.
type load struct {
	token     uint64
	texture   int32
	entity    int32 // whose operation it belongs to; -1 for a first load
	maxSize   int   // longest edge that was asked for
	reserve   int64 // bytes that are kept free for it
	frees     int64 // bytes that a downgrade will give back
	started   time.Duration
	uploading bool
	cancel    context.CancelFunc
}

// loads owns what is asked of the Loader: the requests under way by token, in
// their order, and the answers that have come. An answer to a request that is over
// finds no load. It knows nothing of what an answer does.
type loads struct {
	loader  Loader
	own     *FileLoader // the loader, where none was given
	done    *Completions
	timeout time.Duration
	list    []load
	token   uint64
	arrived []completion
}

// start asks for a texture.
func (l *loads) start(x load, slot Slot) {
	ctx, cancel := context.WithCancel(context.Background())
	l.token++
	x.token, x.cancel = l.token, cancel
	l.list = append(l.list, x)
	l.loader.Start(Request{
		Token: x.token, Dir: slot.Dir, URI: slot.URI, Use: slot.Use, Cutoff: slot.Cutoff, MaxSize: x.maxSize, Context: ctx, Done: l.done,
	})
}

// end takes a load out, whatever has become of it, and returns it.
func (l *loads) end(k int) load {
	x := l.list[k]
	x.cancel()
	l.list = slices.Delete(l.list, k, k+1)
	return x
}

// deliver hands over the answers that have come.
func (l *loads) deliver(take func(*completion)) {
	l.arrived = l.done.box.Drain(l.arrived)
	for i := range l.arrived {
		take(&l.arrived[i])
	}
	clear(l.arrived)
}

// awaiting returns the load that a token's answer is for, -1 for none.
func (l *loads) awaiting(token uint64) int {
	return slices.IndexFunc(l.list, func(x load) bool { return x.token == token && !x.uploading })
}

// of returns the load of a texture, -1 for none.
func (l *loads) of(texture int32) int {
	return slices.IndexFunc(l.list, func(x load) bool { return x.texture == texture })
}
