package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/blob"
)

func hashOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// put stores a result whose files have the given contents.
func put(t interface{ Fatal(...any) }, s *Store, key string, contents ...string) {
	type file struct {
		Name   string `json:"name"`
		Size   int    `json:"size"`
		SHA256 string `json:"sha256"`
	}
	var files []file
	for i, c := range contents {
		if err := s.PutFile(context.Background(), hashOf(c), bytes.NewReader([]byte(c)), int64(len(c))); err != nil {
			t.Fatal(err)
		}
		files = append(files, file{fmt.Sprint(i), len(c), hashOf(c)})
	}
	text, err := json.Marshal(map[string]any{"key": key, "deep": map[string]any{"files": files}})
	if err == nil {
		err = s.PutRecord(context.Background(), hashOf(key), text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func folder(t testing.TB) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	place, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return New(place, nil), dir
}

func read(s *Store, content string) (string, error) {
	r, err := s.File(context.Background(), hashOf(content), int64(len(content)))
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), err
}

// TestStore: what is put comes back, what is damaged does not.
func TestStore(t *testing.T) {
	s, dir := folder(t)
	if _, err := s.Record(t.Context(), hashOf("a")); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if ok, err := s.Has(t.Context(), hashOf("a")); ok || err != nil {
		t.Error(ok, err)
	}
	put(t, s, "a", "one", "two")
	put(t, s, "b", "one", "")
	if ok, err := s.Has(t.Context(), hashOf("a")); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, err := s.Record(t.Context(), hashOf("a")); err != nil {
		t.Error(err)
	}
	for _, c := range []string{"one", "two", ""} {
		if got, err := read(s, c); got != c || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if st, err := s.Stat(t.Context()); err != nil || st.Results != 2 || st.Files != 3 || st.FileBytes != 6 || st.Other != 0 || st.Oldest.IsZero() {
		t.Errorf("%+v, %v", st, err)
	}
	if f, err := s.Verify(t.Context(), false); err != nil || len(f) > 0 {
		t.Error(f, err)
	}
	spoil := func(folder, hash, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(under(folder, hash))), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spoil(filesFolder, hashOf("one"), "onx")
	spoil(filesFolder, hashOf("two"), "longer")
	for _, c := range []string{"one", "two"} {
		if _, err := read(s, c); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %v", c, err)
		}
	}
	// A record of another key is as bad as a damaged one.
	other, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(under(resultsFolder, hashOf("a")))))
	if err != nil {
		t.Fatal(err)
	}
	spoil(resultsFolder, hashOf("b"), string(other))
	if _, err := s.Record(t.Context(), hashOf("b")); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	faults, err := s.Verify(t.Context(), true)
	kinds := map[string]int{}
	for _, f := range faults {
		kinds[f.Kind]++
	}
	if err != nil || kinds["damaged-file"] != 2 || kinds["damaged-result"] != 1 || kinds["missing-file"] != 2 {
		t.Error(kinds, err)
	}
	if f, err := s.Verify(t.Context(), false); err != nil || len(f) > 0 {
		t.Error("after removal:", f, err)
	}
	for _, bad := range []string{"", "../x", "ab", hashOf("a")[:63] + "G"} {
		if _, err := s.Record(t.Context(), bad); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("key %q: %v", bad, err)
		}
		if _, err := s.File(t.Context(), bad, 1); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("hash %q: %v", bad, err)
		}
	}
}

// TestUseCounts: a result that is used is put again once a day, so that it stays.
func TestUseCounts(t *testing.T) {
	s, dir := folder(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	put(t, s, "a", "one")
	name := filepath.Join(dir, filepath.FromSlash(under(resultsFolder, hashOf("a"))))
	for _, c := range []struct {
		age  time.Duration
		used bool
	}{{time.Hour, false}, {25 * time.Hour, true}} {
		put := now.Add(-c.age)
		if err := os.Chtimes(name, put, put); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Record(t.Context(), hashOf("a")); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(name)
		if err != nil || st.ModTime().After(put) != c.used {
			t.Errorf("%v: %v, %v", c.age, st.ModTime(), err)
		}
	}
}

// TestTendingIsNoUse: a store is looked through without that its results count as used, or
// none would ever be old enough to go.
func TestTendingIsNoUse(t *testing.T) {
	s, dir := folder(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	put(t, s, "a", "one")
	name := filepath.Join(dir, filepath.FromSlash(under(resultsFolder, hashOf("a"))))
	at := now.Add(-5 * 24 * time.Hour).Truncate(time.Second)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
	_, err1 := s.Verify(t.Context(), false)
	_, err2 := s.GC(t.Context(), Limits{MaxAge: 7 * 24 * time.Hour, Now: now})
	_, err3 := s.Stat(t.Context())
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(name); err != nil || !st.ModTime().Equal(at) {
		t.Errorf("put again at %v: %v", st.ModTime(), err)
	}
}

// TestReplaceFile: what is damaged is replaced, and what is whole is not put again.
func TestReplaceFile(t *testing.T) {
	s, dir := folder(t)
	put(t, s, "a", "one")
	name := filepath.Join(dir, filepath.FromSlash(under(filesFolder, hashOf("one"))))
	if err := os.WriteFile(name, []byte("onx"), 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", "one")
	if _, err := read(s, "one"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := s.ReplaceFile(t.Context(), hashOf("one"), strings.NewReader("one"), 3); err != nil {
		t.Fatal(err)
	}
	if got, err := read(s, "one"); got != "one" || err != nil {
		t.Error(got, err)
	}
	if err := s.ReplaceFile(t.Context(), "../x", strings.NewReader("one"), 3); err == nil {
		t.Error("a hash that is none")
	}
}

// TestGC: what is left keeps to the limits, is whole, and is the newest.
func TestGC(t *testing.T) {
	base := time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		place, err := blob.OpenFolder(dir)
		if err != nil {
			rt.Fatal(err)
		}
		s := New(place, nil)
		n := rapid.IntRange(0, 8).Draw(rt, "results")
		for i := range n {
			var contents []string
			for range rapid.IntRange(0, 3).Draw(rt, "files") {
				contents = append(contents, fmt.Sprintf("%0*d", rapid.IntRange(1, 300).Draw(rt, "size"), rapid.IntRange(0, 5).Draw(rt, "content")))
			}
			put(rt, s, fmt.Sprint(i), contents...)
			at := base.Add(-time.Duration(i) * time.Hour)
			if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(under(resultsFolder, hashOf(fmt.Sprint(i))))), at, at); err != nil {
				rt.Fatal(err)
			}
		}
		limits := Limits{Now: base.Add(time.Second), Grace: -time.Hour}
		if rapid.Bool().Draw(rt, "by size") {
			limits.MaxBytes = int64(rapid.IntRange(1, 3000).Draw(rt, "most"))
		}
		if rapid.Bool().Draw(rt, "by age") {
			limits.MaxAge = time.Duration(rapid.IntRange(0, 8).Draw(rt, "hours"))*time.Hour + time.Minute
		}
		before, err := s.Stat(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		dry := limits
		dry.DryRun = true
		told, err := s.GC(t.Context(), dry)
		if err != nil {
			rt.Fatal(err)
		}
		done, err := s.GC(t.Context(), limits)
		if err != nil || *done != *told {
			rt.Fatalf("%+v was told, %+v was done (%v)", told, done, err)
		}
		after, err := s.Stat(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		bytes := after.ResultBytes + after.FileBytes
		if bytes != done.Left || before.ResultBytes+before.FileBytes-bytes != done.Bytes || limits.MaxBytes > 0 && bytes > limits.MaxBytes {
			rt.Errorf("%d bytes are left of %+v: %+v", bytes, before, done)
		}
		if f, err := s.Verify(t.Context(), false); err != nil || len(f) > 0 {
			rt.Errorf("%v, %v", f, err)
		}
		gone := false
		for i := range n {
			there, err := s.Has(t.Context(), hashOf(fmt.Sprint(i)))
			if err != nil || there && gone {
				rt.Errorf("result %d is left, a newer one is not (%v)", i, err)
			}
			gone = gone || !there
		}
	})
}

// TestGCGrace: young files stay although no result names them, and are told.
func TestGCGrace(t *testing.T) {
	place, err := blob.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := New(place, nil)
	put(t, s, "a", "first", "second one")
	limits := Limits{Now: time.Now(), Grace: time.Hour, MaxBytes: 1}
	r, err := s.GC(t.Context(), limits)
	if err != nil || r.Results != 1 || r.Files != 0 || r.Young != 2 || r.YoungBytes != r.Left || r.Left != int64(len("firstsecond one")) {
		t.Errorf("%+v, %v", r, err)
	}
	limits.Now = limits.Now.Add(2 * time.Hour)
	if r, err := s.GC(t.Context(), limits); err != nil || r.Files != 2 || r.Young != 0 || r.Left != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// FuzzRecord: whatever lies in a store, it is read or refused.
func FuzzRecord(f *testing.F) {
	f.Add([]byte("x"))
	f.Add(seal(hashOf("a"), []byte(`{"files":[{"size":1,"sha256":"00"}]}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		if record, err := open(hashOf("a"), text); err == nil {
			_, _ = named(record)
		}
	})
}
