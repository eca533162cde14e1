package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestInspectDamaged: what is whole is shown and the rest is marked, with exit code 1.
func TestInspectDamaged(t *testing.T) {
	data := testfile.Read(t, filepath.Join("..", "..", "testdata", "vectors", "triangle_none.untold"))
	flipped := append([]byte{}, data...)
	flipped[len(flipped)-1] ^= 1
	put := func(b []byte) string { return testfile.Write(t, filepath.Join(t.TempDir(), "a.untold"), b) }
	for _, c := range []struct {
		name string
		data []byte
		says []string
	}{
		{"cut off", data[:len(data)-1], []string{"INDEX_DATA", "damaged\n", "sound\n", "damaged: ", "chunk-out-of-bounds"}},
		{"another byte", flipped, []string{"damaged: ", "hash-mismatch"}},
	} {
		path := put(c.data)
		r := here(t, "inspect", path)
		if r.code != exitWanting || r.err != "" {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.err)
		}
		for _, want := range append(c.says, "\nmesh ", "\nentity ") {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, r.stdout)
			}
		}
		var got struct {
			Damaged  bool
			Findings []struct{ Code string }
			Chunks   []struct{ Name, State string }
		}
		if r := here(t, "inspect", path, "--json"); r.code != exitWanting || json.Unmarshal([]byte(r.stdout), &got) != nil || !got.Damaged || len(got.Findings) == 0 || got.Chunks[0].State != "sound" {
			t.Errorf("%s: exit %d: %s", c.name, r.code, r.stdout)
		}
	}
	// What shows one thing wants a sound file, and what is none has nothing to show.
	for _, args := range [][]string{{put(data[:len(data)-1]), "--stats"}, {put([]byte("no container"))}, {put(data[:100])}} {
		if r := here(t, append([]string{"inspect"}, args...)...); r.code != exitWanting || r.stdout != "" || !strings.HasPrefix(r.err, "error: ") {
			t.Errorf("%v: exit %d: %s%s", args[1:], r.code, r.stdout, r.err)
		}
	}
}

// TestInspectShowsFirst: the tables of a container are there before its bytes are hashed:
// what happens to it in between is told of below them.
func TestInspectShowsFirst(t *testing.T) {
	data := testfile.Read(t, filepath.Join("..", "..", "testdata", "vectors", "triangle_none.untold"))
	path := testfile.Write(t, filepath.Join(t.TempDir(), "a.untold"), data)
	var errs strings.Builder
	out := &spoiling{t: t, path: path, at: int64(len(data)) - 1, to: data[len(data)-1] ^ 1}
	if code := run(t.Context(), []string{"inspect", path}, out, &errs); code != exitWanting || errs.String() != "" {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	header, damage := strings.Index(out.String(), "content hash"), strings.Index(out.String(), "\ndamaged: ")
	if header < 0 || damage < header || !strings.Contains(out.String()[damage:], "hash-mismatch") {
		t.Errorf("%d, %d: %s", header, damage, out.String())
	}
	// What is one document is not begun before.
	if r := here(t, "inspect", path, "--json"); r.code != exitWanting || !strings.Contains(r.stdout, `"damaged": true`) {
		t.Errorf("exit %d: %s", r.code, r.stdout)
	}
}

// spoiling changes a byte of a file when the first text is written.
type spoiling struct {
	strings.Builder
	t    *testing.T
	path string
	at   int64
	to   byte
}

func (s *spoiling) Write(p []byte) (int, error) {
	if s.Len() == 0 {
		f, err := os.OpenFile(s.path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteAt([]byte{s.to}, s.at)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			s.t.Error(err)
		}
	}
	return s.Builder.Write(p)
}
