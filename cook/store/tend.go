package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/blob"
)

// Stats says what a store holds.
type Stats struct {
	Results     int       `json:"results"`
	ResultBytes int64     `json:"result_bytes"`
	Files       int       `json:"files"`
	FileBytes   int64     `json:"file_bytes"`
	Other       int       `json:"other_objects"` // that are of no store, or of another version
	Oldest      time.Time `json:"oldest"`        // result, zero without one
	Newest      time.Time `json:"newest"`
}

// listing is all objects of a store.
type listing struct {
	results, files []blob.Info // Key is the hash alone
	other          int
}

func (s *Store) list(ctx context.Context) (*listing, error) {
	out := &listing{}
	for info, err := range s.place.List(ctx, "v1/") {
		if err != nil {
			return nil, err
		}
		list, rest := &out.results, ""
		if r, ok := strings.CutPrefix(info.Key, resultsFolder); ok {
			rest = r
		} else if r, ok := strings.CutPrefix(info.Key, filesFolder); ok {
			list, rest = &out.files, r
		}
		dir, hash, _ := strings.Cut(rest, "/")
		if !isHash(hash) || dir != hash[:2] {
			out.other++
			continue
		}
		info.Key = hash
		*list = append(*list, info)
	}
	return out, nil
}

// Stat counts what the store holds.
func (s *Store) Stat(ctx context.Context) (*Stats, error) {
	l, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	out := &Stats{Results: len(l.results), Files: len(l.files), Other: l.other}
	for _, r := range l.results {
		out.ResultBytes += r.Size
		if out.Oldest.IsZero() || r.ModTime.Before(out.Oldest) {
			out.Oldest = r.ModTime
		}
		if r.ModTime.After(out.Newest) {
			out.Newest = r.ModTime
		}
	}
	for _, f := range l.files {
		out.FileBytes += f.Size
	}
	return out, nil
}

// named returns the files that a record names: all its objects with a size and a hash,
// however deep, as this package knows no more of records.
func named(record []byte) (map[string]int64, error) {
	var v any
	if err := json.Unmarshal(record, &v); err != nil {
		return nil, ErrNone
	}
	out := map[string]int64{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			hash, ok1 := v["sha256"].(string)
			size, ok2 := v["size"].(float64)
			if ok1 && ok2 && isHash(hash) {
				out[hash] = int64(size)
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return out, nil
}

// Fault is an object of a store that is not what it should be.
type Fault struct {
	Kind   string `json:"kind"` // damaged-result, damaged-file, missing-file
	Object string `json:"object"`
	Result string `json:"result,omitempty"` // that names a missing file
}

// Verify reads the whole store. With remove damaged objects go, and results whose files
// are not there; cooks do not take them in any case.
func (s *Store) Verify(ctx context.Context, remove bool) ([]Fault, error) {
	l, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	var out []Fault
	drop := func(f Fault, name string) error {
		out = append(out, f)
		if remove {
			return s.place.Delete(ctx, name)
		}
		return nil
	}
	good := map[string]int64{}
	for _, f := range l.files {
		err := s.readFile(ctx, f)
		if errors.Is(err, ErrNone) {
			err = drop(Fault{Kind: "damaged-file", Object: f.Key}, under(filesFolder, f.Key))
		} else if err == nil {
			good[f.Key] = f.Size
		}
		if err != nil {
			return out, err
		}
	}
	for _, r := range l.results {
		record, err := s.look(ctx, r.Key)
		var names map[string]int64
		if err == nil {
			names, err = named(record)
		}
		if errors.Is(err, ErrNone) {
			err = drop(Fault{Kind: "damaged-result", Object: r.Key}, under(resultsFolder, r.Key))
		}
		if err != nil {
			return out, err
		}
		for hash, size := range names {
			if have, ok := good[hash]; !ok || have != size {
				if err := drop(Fault{"missing-file", hash, r.Key}, under(resultsFolder, r.Key)); err != nil {
					return out, err
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Result, b.Result))
	})
	return out, nil
}

func (s *Store) readFile(ctx context.Context, f blob.Info) error {
	r, err := s.File(ctx, f.Key, f.Size)
	if err != nil {
		return err
	}
	defer r.Close()
	buf := make([]byte, 256<<10)
	for {
		if _, err := r.Read(buf); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// Limits say what GC keeps.
type Limits struct {
	MaxBytes int64         // of results and files together; 0: any
	MaxAge   time.Duration // since a result was last put or used; 0: any
	Now      time.Time
	// Grace is how young files stay that no result names: their cook may be about to put
	// it.
	Grace  time.Duration
	DryRun bool // nothing is removed
}

// Removed says what GC has removed.
type Removed struct {
	Results int   `json:"results"`
	Files   int   `json:"files"`
	Bytes   int64 `json:"bytes"`
	Left    int64 `json:"left_bytes"`
	// Young files that no result names were left, since they are younger than the grace.
	Young      int   `json:"young_files"`
	YoungBytes int64 `json:"young_bytes"` // a part of Left
}

// GC removes the results that have not been put or used for longest, as the limits want
// it, and files that no result names any more. Cooks may go on meanwhile: a result of
// which a file has gone is made again.
func (s *Store) GC(ctx context.Context, limits Limits) (*Removed, error) {
	l, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(l.results, func(a, b blob.Info) int { // the newest first
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Key, b.Key))
	})
	sizes := make(map[string]int64, len(l.files))
	for _, f := range l.files {
		sizes[f.Key] = f.Size
	}
	keeps, out := map[string]bool{}, &Removed{}
	var drop []blob.Info
	full := false
	for _, r := range l.results {
		record, err := s.look(ctx, r.Key)
		var names map[string]int64
		if err == nil {
			names, err = named(record)
		}
		if err != nil && !errors.Is(err, ErrNone) {
			return nil, err
		}
		size := r.Size
		for hash := range names {
			if !keeps[hash] {
				size += sizes[hash]
			}
		}
		full = full || limits.MaxBytes > 0 && out.Left+size > limits.MaxBytes
		if err != nil || full || limits.MaxAge > 0 && limits.Now.Sub(r.ModTime) > limits.MaxAge {
			drop = append(drop, r)
			continue
		}
		out.Left += size
		for hash := range names {
			keeps[hash] = true
		}
	}
	remove := func(name string, size int64) error {
		out.Bytes += size
		if limits.DryRun {
			return nil
		}
		return s.place.Delete(ctx, name)
	}
	for _, r := range drop { // before what they name
		out.Results++
		if err := remove(under(resultsFolder, r.Key), r.Size); err != nil {
			return out, err
		}
	}
	for _, f := range l.files {
		if keeps[f.Key] {
			continue
		}
		if limits.Now.Sub(f.ModTime) < limits.Grace {
			out.Left += f.Size
			out.Young++
			out.YoungBytes += f.Size
			continue
		}
		out.Files++
		if err := remove(under(filesFolder, f.Key), f.Size); err != nil {
			return out, err
		}
	}
	return out, nil
}
