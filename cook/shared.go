package cook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/internal/journal"
)

// shared is the side of a cook towards the store that it shares with others. When the
// store fails once, the cook goes on without it.
type shared struct {
	ctx     context.Context
	store   *store.Store
	timeout time.Duration // of one operation, and a second more for each megabyte

	puts errgroup.Group
	mu   sync.Mutex
	err  error
	// hits are keys whose results came from the store. misses are those that it was asked
	// for in vain: true where it has a record, and not the files. recall.mu guards both.
	hits, misses map[sum]bool
}

const (
	storeTimeout = time.Minute
	storePuts    = 8 // results that are put at a time
	storeRate    = 1 << 20
)

func newShared(ctx context.Context, o *Options) *shared {
	if o.Store == nil {
		return nil
	}
	x := &shared{ctx: ctx, store: o.Store, timeout: storeTimeout, hits: map[sum]bool{}, misses: map[sum]bool{}}
	if o.storeTimeout > 0 {
		x.timeout = o.storeTimeout
	}
	x.puts.SetLimit(storePuts)
	return x
}

// works reports whether there is a store that has not failed.
func (x *shared) works() bool {
	if x == nil {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err == nil
}

// try does something with the store within its time, and reports whether it went well.
// That there is no such result is no failure.
func (x *shared) try(size int64, do func(ctx context.Context) error) bool {
	ctx, cancel := context.WithTimeout(x.ctx, x.timeout+time.Duration(size/storeRate)*time.Second)
	defer cancel()
	err := do(ctx)
	if err == nil || errors.Is(err, store.ErrNone) || x.ctx.Err() != nil {
		return err == nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s has not answered for %v", x.store, x.timeout)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = err
	}
	return false
}

// record reads the record of a key into v, and reports whether the store has one.
func (x *shared) record(key sum, v any) bool {
	var text []byte
	return x.try(0, func(ctx context.Context) (err error) {
		text, err = x.store.Record(ctx, key.String())
		return err
	}) && json.Unmarshal(text, v) == nil
}

// copy hands out the bytes of a file of the store. Who reads them to their end knows that
// they are what their hash says.
func (x *shared) copy(f fileRecord, write func(io.Reader) error) bool {
	return x.try(f.Size, func(ctx context.Context) error {
		in, err := x.store.File(ctx, f.SHA256, f.Size)
		if err != nil {
			return err
		}
		defer in.Close()
		return write(in)
	})
}

// bring makes a file of the store one of the stage: by a link where both are on one file
// system, else by its bytes.
func (x *shared) bring(f fileRecord, out *output) bool {
	if at := x.store.Path(f.SHA256); at != "" {
		if linked, good := out.link(at, f); linked {
			return good
		}
	}
	return x.copy(f, func(in io.Reader) error {
		return out.writeKnown(f, func(w io.Writer) error {
			_, err := io.Copy(w, in)
			return err
		})
	})
}

// hit notes that the store has the result of a key.
func (r *recall) hit(key sum) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared.hits[key] = true
}

// miss notes that the store has no result of a key that could be taken: one that is made
// is put there whatever lies under the key. With hasRecord it is in the place of files that
// have gone or are damaged.
func (r *recall) miss(key sum, hasRecord bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared.misses[key] = hasRecord
}

// fetch brings the files of a result into the stage that are not here in any case, and
// returns where all of them lie, by their names. If that fails there are none of them.
func (r *recall) fetch(key sum, files []fileRecord) (found map[string]string) {
	found = map[string]string{}
	var got []fileRecord
	for _, f := range files {
		if journal.CheckPath(f.Name) != nil {
			break
		}
		at := r.locate(f, "")
		if at == "" && r.out.wrote(f) { // nodes share textures
			at = r.out.at(f.Name)
		}
		if at == "" {
			got = append(got, f)
			if !r.shared.bring(f, r.out) {
				break
			}
			at = r.out.at(f.Name)
		}
		found[f.Name] = at
	}
	if len(found) < len(files) {
		for _, f := range got {
			r.out.forget(f.Name)
			_ = r.out.files.Remove(r.out.at(f.Name))
		}
		return nil
	}
	r.hit(key)
	return found
}

// share puts a result of this cook into the store, in the background. Its files lie in
// the stage, or where they are taken from, the others by their paths.
func (r *recall) share(key sum, files []fileRecord, others map[string]fileRecord, v any) {
	x := r.shared
	if !x.works() {
		return
	}
	from := map[string]fileRecord{}
	maps.Copy(from, others)
	r.mu.Lock()
	for _, f := range files {
		at := r.out.at(f.Name)
		if t, ok := r.taken[f.Name]; ok {
			at = t.from
		}
		from[at] = f
	}
	replaces, asked := x.misses[key]
	hit := x.hits[key]
	r.mu.Unlock()
	if hit {
		return
	}
	put := x.store.PutFile
	if replaces {
		put = x.store.ReplaceFile
	}
	x.puts.Go(func() error {
		there := false
		if !x.works() || !asked && !x.try(0, func(ctx context.Context) (err error) {
			there, err = x.store.Has(ctx, key.String())
			return err
		}) || there {
			return nil
		}
		for at, f := range from {
			in, err := r.out.files.Open(at)
			if err != nil {
				return nil // it has gone from the output folder, which is no fault of the store
			}
			ok := x.try(f.Size, func(ctx context.Context) error { return put(ctx, f.SHA256, in, f.Size) })
			if in.Close(); !ok {
				return nil
			}
		}
		if text, err := json.Marshal(v); err == nil {
			x.try(int64(len(text)), func(ctx context.Context) error { return x.store.PutRecord(ctx, key.String(), text) })
		}
		return nil
	})
}

// wait ends when all results of this cook are in the store, and says what went wrong.
func (x *shared) wait() error {
	if x == nil {
		return nil
	}
	_ = x.puts.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}
