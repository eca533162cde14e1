// Package placetest asserts what all places of objects promise.
package placetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/blob"
)

// Put stores a text.
func Put(t testing.TB, p blob.Place, key, text string) {
	t.Helper()
	if err := p.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), blob.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Keys lists keys.
func Keys(t testing.TB, p blob.Place, prefix string) []string {
	t.Helper()
	keys := []string{}
	for o, err := range p.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

// Run tests an empty place. large is the size in bytes of an object that the place
// stores in its way for large ones.
func Run(t *testing.T, p blob.Place, large int) {
	t.Run("missing", func(t *testing.T) { missing(t, p) })
	t.Run("objects", func(t *testing.T) { objects(t, p, large) })
	t.Run("list", func(t *testing.T) { list(t, p) })
	t.Run("keys", func(t *testing.T) { keys(t, p) })
	t.Run("copy", func(t *testing.T) { copies(t, p) })
	t.Run("one wins", func(t *testing.T) { oneWins(t, p) })
	t.Run("many", func(t *testing.T) { many(t, p) })
	t.Run("context", func(t *testing.T) { ends(t, p) })
}

func missing(t *testing.T, p blob.Place) {
	_, _, err := p.Get(t.Context(), "a/none")
	_, e2 := p.GetRange(t.Context(), "a/none", 0, 1)
	_, e3 := p.Stat(t.Context(), "a/none")
	for _, err := range []error{err, e2, e3} {
		var e *blob.Error
		if !errors.Is(err, blob.ErrNotFound) || !errors.As(err, &e) || e.Key != "a/none" || !strings.Contains(err.Error(), p.String()) {
			t.Errorf("%v", err)
		}
	}
	if err := p.Delete(t.Context(), "a/none"); err != nil {
		t.Error(err)
	}
	if got := Keys(t, p, ""); len(got) != 0 {
		t.Error(got)
	}
}

func objects(t *testing.T, p blob.Place, large int) {
	big := make([]byte, large)
	for i := range big {
		big[i] = byte(i * 7 >> 3)
	}
	for _, content := range [][]byte{{}, []byte("a"), []byte("abc def"), big} {
		const key = "o/é x+%41.bin"
		if err := p.Put(t.Context(), key, bytes.NewReader(content), int64(len(content)), blob.PutOptions{ContentType: "image/png", CacheControl: "max-age=60"}); err != nil {
			t.Fatal(err)
		}
		got, err := blob.Read(t.Context(), p, key, int64(len(content)))
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes: %d, %v", len(content), len(got), err)
		}
		st, err := p.Stat(t.Context(), key)
		if err != nil || st.Key != key || st.Size != int64(len(content)) || st.ModTime.IsZero() {
			t.Errorf("%+v, %v", st, err)
		}
		if len(content) < 2 {
			continue
		}
		if _, err := blob.Read(t.Context(), p, key, int64(len(content))-1); err == nil {
			t.Error("read beyond the limit")
		}
		for _, at := range [][2]int64{{0, 1}, {2, 3}, {int64(len(content)) - 2, 50}} {
			r, err := p.GetRange(t.Context(), key, at[0], at[1])
			if err != nil {
				t.Fatal(err)
			}
			part, err := io.ReadAll(r)
			if want := content[at[0]:min(at[0]+at[1], int64(len(content)))]; err != nil || !bytes.Equal(part, want) {
				t.Errorf("%v: %q, %v", at, part, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, at := range [][2]int64{{-1, 1}, {0, 0}, {int64(len(content)), 1}} {
			if r, err := p.GetRange(t.Context(), key, at[0], at[1]); err == nil {
				t.Errorf("%v: no error", at)
				r.Close()
			}
		}
	}
	if err := p.Put(t.Context(), "o/é x+%41.bin", strings.NewReader("b"), 1, blob.PutOptions{IfAbsent: true}); !errors.Is(err, blob.ErrExists) {
		t.Error(err)
	}
	if err := p.Put(t.Context(), "o/short", strings.NewReader("b"), 2, blob.PutOptions{}); err == nil {
		t.Error("content that is too short was stored")
	}
	if err := p.Delete(t.Context(), "o/é x+%41.bin"); err != nil {
		t.Error(err)
	}
	if got := Keys(t, p, ""); len(got) != 0 {
		t.Error(got)
	}
}

func list(t *testing.T, p blob.Place) {
	all := []string{"l/a", "l/a-b", "l/a.b", "l/a/b", "l/a/c/d", "l/a0", "l/ab/c", "l/é"}
	for _, i := range []int{3, 0, 7, 1, 6, 2, 5, 4} {
		if i == 0 {
			continue // a file and a folder of one name are not for folders
		}
		Put(t, p, all[i], "x")
	}
	all = all[1:]
	for prefix, want := range map[string][]string{
		"": all, "l/": all, "l/a/": {"l/a/b", "l/a/c/d"}, "l/a": all[:6], "l/a.": {"l/a.b"}, "m": {}, "l/a/c/d": {"l/a/c/d"},
	} {
		if d := cmp.Diff(want, Keys(t, p, prefix)); d != "" {
			t.Errorf("%q: %s", prefix, d)
		}
	}
	for range p.List(t.Context(), "") {
		break // who has seen enough stops
	}
	for _, key := range all {
		if err := p.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
	if got := Keys(t, p, ""); len(got) != 0 {
		t.Error(got)
	}
}

func keys(t *testing.T, p blob.Place) {
	for _, key := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", "a/./b", `a\b`, "a:b", "a\nb", "\xff", strings.Repeat("a", 201), strings.Repeat("a/", 600) + "a", ".a.1-2.untold-tmp"} {
		errs := []error{p.Put(t.Context(), key, strings.NewReader("x"), 1, blob.PutOptions{}), p.Delete(t.Context(), key)}
		_, err := p.Stat(t.Context(), key)
		errs = append(errs, err)
		_, _, err = p.Get(t.Context(), key)
		for _, err := range append(errs, err) {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("%q: %v", key, err)
			}
		}
	}
}

func copies(t *testing.T, p blob.Place) {
	c, ok := p.(blob.Copier)
	if !ok {
		t.Skip("the place does not copy")
	}
	Put(t, p, "c/é x+%41", "content")
	Put(t, p, "c/d/old", "old")
	for _, to := range []string{"c/new", "c/d/old"} {
		if err := c.Copy(t.Context(), "c/é x+%41", to, blob.PutOptions{ContentType: "image/png"}); err != nil {
			t.Fatal(err)
		}
		if got, err := blob.Read(t.Context(), p, to, 100); err != nil || string(got) != "content" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := c.Copy(t.Context(), "c/none", "c/other", blob.PutOptions{}); !errors.Is(err, blob.ErrNotFound) {
		t.Error(err)
	}
	if err := c.Copy(t.Context(), "../none", "c/other", blob.PutOptions{}); !errors.Is(err, blob.ErrKey) {
		t.Error(err)
	}
	for _, key := range []string{"c/é x+%41", "c/new", "c/d/old"} {
		if err := p.Delete(t.Context(), key); err != nil {
			t.Error(err)
		}
	}
}

func oneWins(t *testing.T, p blob.Place) {
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := fmt.Sprint("content ", i)
			switch err := p.Put(t.Context(), "w/one", strings.NewReader(text), int64(len(text)), blob.PutOptions{IfAbsent: true}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, blob.ErrExists):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d have won", won.Load())
	}
	if err := p.Delete(t.Context(), "w/one"); err != nil {
		t.Error(err)
	}
}

// many puts, reads, lists and deletes from many goroutines.
func many(t *testing.T, p blob.Place) {
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			key, text := fmt.Sprintf("m/%d/%d", i%4, i), strings.Repeat(fmt.Sprint(i), 1000+i)
			if err := p.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), blob.PutOptions{}); err != nil {
				t.Error(err)
			}
			if got, err := blob.Read(t.Context(), p, key, 1<<20); err != nil || string(got) != text {
				t.Errorf("%s: %d bytes, %v", key, len(got), err)
			}
			seen := []string{}
			for o, err := range p.List(t.Context(), fmt.Sprintf("m/%d/", i%4)) {
				if err != nil {
					t.Error(err)
				}
				seen = append(seen, o.Key)
			}
			if !slices.Contains(seen, key) {
				t.Errorf("%s is not among %q", key, seen)
			}
			if err := p.Delete(t.Context(), key); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := Keys(t, p, ""); len(got) != 0 {
		t.Error(got)
	}
}

func ends(t *testing.T, p blob.Place) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := p.Get(ctx, "a")
	_, e2 := p.Stat(ctx, "a")
	e3, e4 := p.Put(ctx, "a", strings.NewReader("x"), 1, blob.PutOptions{}), p.Delete(ctx, "a")
	for i, err := range []error{err, e2, e3, e4} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got := Keys(t, p, ""); len(got) != 0 {
		t.Error(got)
	}
}
