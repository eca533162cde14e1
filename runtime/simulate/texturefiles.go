package simulate

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// textureFile is what a run knows of a texture's file.
type textureFile struct {
	size texfile.Size
	// needs is how many bytes of the file a chain takes, by the level that it begins
	// with: of a cooked texture up to that level, of an image all. nil: nobody knows.
	needs []int64
	have  int64 // bytes that were read
	parts bool  // it is read by ranges, whose bytes are known before they come
}

// take returns how many bytes of the file are still to be read for a chain, and counts
// them as read.
func (f *textureFile) take(maxSize int) int64 {
	if f.needs == nil {
		return 0
	}
	more := max(0, f.needs[f.size.StartFor(maxSize)]-f.have)
	f.have += more
	return more
}

// request returns what a download of so many bytes of the file asks a host for.
func (f *textureFile) request(bytes int64) hostqueue.Request {
	if !f.parts {
		bytes = 0 // no manifest says how large an image is
	}
	return hostqueue.Request{Texture: true, Size: bytes}
}

// textureOpening is what a Source has been asked for. Its answers come from other
// goroutines.
type textureOpening struct {
	source  texfile.Source // nil: all files are local
	running int
	came    chan struct{} // readable when something has ended

	mu    sync.Mutex
	ended []openedTexture
}

type openedTexture struct {
	req  texture.Request
	file *textureFile
	err  error
}

// Start is the texture.Loader. Only the answer waits, but for the files of a Source.
func (t *textureTier) Start(req texture.Request) {
	t.attempts[req.URI]++
	slot := fileOf(&req)
	_, listed := t.w.s.Textures[req.URI]
	switch {
	case listed || t.opening.source == nil || t.fails(req.URI):
		f, err := t.file(t.w.ctx, slot, req.MaxSize)
		t.begin(req, f, err)
	case t.w.draw != nil: // it takes no time of the simulated clock
		f, err := openTexture(t.w.ctx, t.opening.source, slot, req.MaxSize)
		t.begin(req, t.keep(slot, f), err)
	default:
		t.opening.running++
		go func() {
			f, err := openTexture(req.Context, t.opening.source, slot, req.MaxSize)
			t.opening.mu.Lock()
			defer t.opening.mu.Unlock()
			t.opening.ended = append(t.opening.ended, openedTexture{req, f, err})
			select {
			case t.opening.came <- struct{}{}:
			default:
			}
		}()
	}
}

// begin takes on a load of which the file is known.
func (t *textureTier) begin(req texture.Request, f *textureFile, err error) {
	attempt := t.attempts[req.URI]
	j := textureJob{req: req, took: t.w.s.Latency.Of("", "texture", int(attempt))}
	j.due = t.w.now + j.took
	switch {
	case t.fails(req.URI):
		j.err = fmt.Errorf("attempt %d: %w", attempt, errFault)
	case err != nil:
		j.err = err
	default:
		j.img = f.size.Blank(req.Use, req.MaxSize)
		more := f.take(req.MaxSize)
		t.read += more
		if t.w.net != nil && more > 0 {
			t.w.net.start(textureFlow|req.Token, more, f.request(more))
			j.due = never
		}
	}
	t.waiting = append(t.waiting, j)
}

// textureFlow tells the downloads of textures from those of payloads.
const textureFlow = 1 << 63

// arrived notes that a texture has come over the modelled network.
func (t *textureTier) arrived(flow uint64) {
	for i := range t.waiting {
		if j := &t.waiting[i]; textureFlow|j.req.Token == flow {
			j.due = t.w.now + j.took
		}
	}
}

// fails reports whether the latest load of a texture meets a fault.
func (t *textureTier) fails(name string) bool {
	for i := range t.w.s.Faults {
		if f := &t.w.s.Faults[i]; f.Texture != "" && f.Texture == name && (f.Times == 0 || t.attempts[name] <= f.Times) {
			return true
		}
	}
	return false
}

// fileOf names the file of a request, whatever its use.
func fileOf(req *texture.Request) texture.Slot {
	return texture.Slot{Dir: req.Dir, URI: req.URI, Use: texfile.Color}
}

// file returns what the scenario says of a texture, else what its file does.
func (t *textureTier) file(ctx context.Context, slot texture.Slot, maxSize int) (*textureFile, error) {
	if size, ok := t.w.s.Textures[slot.URI]; ok {
		return &textureFile{size: size}, nil
	}
	if f, ok := t.files[slot]; ok {
		return f, nil
	}
	f, err := openTexture(ctx, nil, slot, maxSize)
	return t.keep(slot, f), err
}

// keep remembers what was found of a file. What has been read of it counts on.
func (t *textureTier) keep(slot texture.Slot, f *textureFile) *textureFile {
	if f == nil {
		return nil
	}
	if before := t.files[slot]; before != nil {
		f.have = before.have
	}
	t.files[slot] = f
	return f
}

// openTexture opens the file of a texture, which brings what a Source has to bring, and
// looks at its header.
func openTexture(ctx context.Context, s texfile.Source, slot texture.Slot, maxSize int) (*textureFile, error) {
	in, err := texfile.OpenFile(ctx, slot.Dir, slot.URI, maxSize, s)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := measureTexture(in, in.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", slot.URI, err)
	}
	return f, nil
}

func measureTexture(in io.ReaderAt, size int64) (*textureFile, error) {
	s, err := texfile.Measure(in, size)
	if err != nil {
		return nil, err
	}
	f := &textureFile{size: s, needs: make([]int64, s.Mips)}
	cooked, err := texfile.OpenCooked(in, size)
	if err != nil {
		return nil, err
	}
	if cooked == nil {
		for k := range f.needs {
			f.needs[k] = size
		}
		return f, nil
	}
	f.parts = true
	n := cooked.Head
	for k := len(f.needs) - 1; k >= 0; k-- {
		n += cooked.Levels[k].Size
		f.needs[k] = n
	}
	return f, nil
}

// open takes over what a Source has opened.
func (t *textureTier) open() {
	o := &t.opening
	o.mu.Lock()
	ended := o.ended
	o.ended = nil
	o.mu.Unlock()
	for i := range ended {
		e := &ended[i]
		o.running--
		t.begin(e.req, t.keep(fileOf(&e.req), e.file), e.err)
	}
}

// deliver answers what is due. Loads that were given up end their downloads, as an HTTP
// client's do.
func (t *textureTier) deliver() {
	t.open()
	keep := t.waiting[:0]
	for _, j := range t.waiting {
		if j.due == never && j.req.Context.Err() != nil {
			t.w.net.cancel(textureFlow | j.req.Token)
			j.img, j.err, j.due = nil, context.Canceled, t.w.now
		}
		if j.due > t.w.now {
			keep = append(keep, j)
			continue
		}
		j.req.Done.Loaded(j.req.Token, j.img, j.err)
	}
	clear(t.waiting[len(keep):])
	t.waiting = keep
}

// hurry makes what is on its way arrive at once.
func (t *textureTier) hurry() {
	for i := range t.waiting {
		if j := &t.waiting[i]; j.due == never {
			t.w.net.cancel(textureFlow | j.req.Token)
		}
		t.waiting[i].due = t.w.now
	}
}
