package main

import (
	"encoding/json"
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
