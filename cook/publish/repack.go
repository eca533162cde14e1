package publish

import (
	"cmp"
	"context"
	"os"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/picture"
)

// repacked says of what file of the folder other bytes are published, and how they are made:
// a second time when they are sent, since all of them at once would not fit into memory.
type repacked struct {
	mode format.CompressMode
	size int64 // in the folder
	need int64 // bytes of memory that it takes
}

// DefaultMemory is what Options.Memory means when it is 0: 1 GiB.
const DefaultMemory = 1 << 30

const (
	// programBytes is what the program takes that does nothing.
	programBytes = 48 << 20
	// garbageShare is the part of the memory that is left to garbage.
	garbageShare = 8
	// leastShare is the part that containers have however little there is.
	leastShare = 4
	// compressorBytes is what a compressor takes beside what it reads and writes.
	compressorBytes = 28 << 20
)

// workshop shares memory among the containers that are judged or repacked at a time.
type workshop struct {
	mode   *format.CompressMode // nil: nothing is repacked
	size   int64                // bytes for all of them together
	budget *picture.Budget
}

func newWorkshop(o *Options) *workshop {
	m := cmp.Or(max(o.Memory, 0), DefaultMemory)
	size := max(m-m/garbageShare-programBytes, m/leastShare)
	return &workshop{o.Compress, size, picture.NewBudget(size)}
}

// repack finds the size and the hash of what is published in the container's place.
func (w *workshop) repack(ctx context.Context, c *container, r *format.Reader) error {
	if w.mode == nil {
		return nil
	}
	need := r.RepackMemory()
	if c.large = need > w.size; c.large || need == 0 {
		return nil
	}
	was := &repacked{*w.mode, c.size, need}
	free, err := w.take(ctx, was)
	if err != nil {
		return err
	}
	defer free()
	data, err := r.Repack(*w.mode)
	if err != nil {
		return c.wrong(err)
	}
	c.repacked, c.size, c.sha = was, int64(len(data)), hashOf(data)
	return nil
}

// take waits until there is memory for a container and returns what gives it back.
func (w *workshop) take(ctx context.Context, c *repacked) (free func(), err error) {
	return w.budget.Take(ctx, c.need+compressorBytes)
}

// noteLarge says which containers were left as they are, since they would take more memory
// than there may be.
func (r *run) noteLarge(scenes []*scene) {
	seen := map[string]bool{}
	for _, s := range scenes {
		for _, c := range s.containers {
			if c.large && !seen[c.key] {
				seen[c.key] = true
				r.report.TooLarge++
				r.report.TooLargeBytes += c.size
			}
		}
	}
	if n := r.report.TooLarge; n > 0 {
		r.note("%s (%s) in all: as cooked, since compressing any of them would take more than %s of memory; allow more, or cook with this compression",
			human.Plural(n, "container"), human.Bytes(r.report.TooLargeBytes), human.Bytes(r.memory.size))
	}
}

// pack returns the bytes that are published of an open file.
func (f *file) pack(in *os.File) ([]byte, error) {
	was := f.repacked
	if err := f.sameSize(in); err != nil {
		return nil, err
	}
	r, err := format.NewReader(in, was.size)
	if err != nil {
		return nil, f.wrong(err)
	}
	defer r.Close()
	out, err := r.Repack(was.mode)
	if err != nil {
		return nil, f.wrong(err)
	}
	if int64(len(out)) != f.size || hashOf(out) != f.sha {
		return nil, f.changed()
	}
	return out, nil
}

// sameSize refuses an open file that has another size than the one that was repacked.
func (f *file) sameSize(in *os.File) error {
	st, err := in.Stat()
	if err != nil {
		return f.wrong(err)
	}
	if st.Size() != f.repacked.size {
		return f.changed()
	}
	return nil
}
