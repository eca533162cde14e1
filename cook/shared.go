package cook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
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
	hits map[sum]bool // keys whose results came from the store; recall.mu guards it
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
	x := &shared{ctx: ctx, store: o.Store, timeout: storeTimeout, hits: map[sum]bool{}}
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

// record returns the record of a key; nil if the store has none.
func (x *shared) record(k *key) *record {
	var text []byte
	ok := x.try(0, func(ctx context.Context) (err error) {
		text, err = x.store.Record(ctx, k.sum.String())
		return err
	})
	rec := &record{}
	if !ok || json.Unmarshal(text, rec) != nil {
		return nil
	}
	return rec
}

// fetch brings the files of a record into the stage that are not here in any case, and
// reports whether that went well. Else there are none of them.
func (r *recall) fetch(k *key, rec *record) bool {
	var list []taken
	var got []fileRecord
	for _, f := range rec.files() {
		if journal.CheckPath(f.Name) != nil {
			break
		}
		from := r.locate(f, "")
		if from == "" {
			ok := r.shared.try(f.Size, func(ctx context.Context) error {
				in, err := r.shared.store.File(ctx, f.SHA256, f.Size)
				if err != nil {
					return err
				}
				defer in.Close()
				_, err = r.out.write(f.Name, func(w io.Writer) error {
					_, err := io.Copy(w, in)
					return err
				})
				return err
			})
			got = append(got, f)
			if !ok {
				break
			}
			list = append(list, taken{}) // it is in the stage
			continue
		}
		list = append(list, taken{f, from})
	}
	if len(list) < len(rec.files()) {
		for _, f := range got {
			r.out.forget(f.Name)
			_ = r.out.files.Remove(path.Join(journal.Folder, r.out.name, f.Name))
		}
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range list {
		if t.from != "" {
			r.taken[t.Name] = t
		}
	}
	r.shared.hits[k.sum] = true
	return true
}

// share puts a result of this cook into the store, in the background. Its files lie in
// the stage, or where they are taken from.
func (r *recall) share(k *key, rec *record) {
	if !r.shared.works() || r.shared.hits[k.sum] {
		return
	}
	files := rec.files()
	from := make([]string, len(files))
	for i, f := range files {
		from[i] = path.Join(journal.Folder, r.out.name, f.Name)
		if t, ok := r.taken[f.Name]; ok {
			from[i] = t.from
		}
	}
	name := k.sum.String()
	r.shared.puts.Go(func() error {
		there := false
		if !r.shared.works() || !r.shared.try(0, func(ctx context.Context) (err error) {
			there, err = r.shared.store.Has(ctx, name)
			return err
		}) || there {
			return nil
		}
		for i, f := range files {
			if !r.shared.try(f.Size, func(ctx context.Context) error {
				in, err := r.out.files.Open(from[i])
				if err != nil {
					return err
				}
				defer in.Close()
				return r.shared.store.PutFile(ctx, f.SHA256, in, f.Size)
			}) {
				return nil
			}
		}
		text, err := json.Marshal(rec)
		if err != nil {
			return nil
		}
		r.shared.try(int64(len(text)), func(ctx context.Context) error { return r.shared.store.PutRecord(ctx, name, text) })
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
