package gltfscene

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

func intBytes(list ...int) (data []byte) {
	for _, v := range list {
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return data
}

// TestOpenIsLoad: what Open shows and what Geometry returns, whether it is kept or not, is
// what Load gives, and so are counts and notes.
func TestOpenIsLoad(t *testing.T) {
	seen := 0
	eachAsset(t, func(name, path string) {
		if seen++; race.Enabled && seen%4 > 0 {
			return // make test opens all of them without the detector
		}
		want, wantErr := Load(context.Background(), path, DefaultOptions())
		for _, keep := range []int64{0, 1 << 40} {
			var mu sync.Mutex
			seen := map[int][]Primitive{}
			s, err := Open(context.Background(), path, DefaultOptions(), keep, func(_ *Scene, mesh int, list []Primitive) error {
				mu.Lock()
				defer mu.Unlock()
				seen[mesh] = list
				return nil
			})
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s: %v, want %v", name, err, wantErr)
			}
			if err != nil || wantErr != nil {
				continue
			}
			defer s.Close()
			if !slices.Equal(s.Notes, want.Notes) || !slices.Equal(s.Files, want.Files) || s.Triangles() != want.Triangles() {
				t.Errorf("%s: notes, files or triangles differ", name)
			}
			for i := range want.Meshes {
				list, err := s.Geometry(i)
				if err != nil {
					t.Errorf("%s: mesh %d: %v", name, i, err)
				}
				w := want.Meshes[i].Primitives
				if !reflect.DeepEqual(list, w) && len(w) > 0 || !reflect.DeepEqual(seen[i], w) && len(w) > 0 {
					t.Errorf("%s: mesh %d differs", name, i)
				}
				m := &s.Meshes[i]
				if m.Primitives != nil || !slices.Equal(m.Parts, want.Meshes[i].Parts) || len(m.Parts) != len(w) {
					t.Errorf("%s: mesh %d: %+v", name, i, m)
				}
				for k := range w {
					if p, q := &w[k], m.Parts[k]; q != (Part{p.Slot, p.Material, len(p.Positions), len(p.Indices) / 3, p.Normals != nil}) {
						t.Errorf("%s: mesh %d, primitive %d: %+v", name, i, k, q)
					}
				}
			}
			for i := range want.Images {
				a, err := s.Images[i].Bytes()
				b, wantErr := want.Images[i].Bytes()
				if string(a) != string(b) || (err == nil) != (wantErr == nil) {
					t.Errorf("%s: image %d differs: %v", name, i, err)
				}
			}
		}
	})
}

// TestPartsOfSharedVertices: of a set of vertices that many primitives share, each decodes
// the part that it uses, and what is wrong anywhere in the set is found all the same.
func TestPartsOfSharedVertices(t *testing.T) {
	const n = 200_000 // 2.4 MB, which is worth it
	build := func(change func(at []float32)) *builder {
		b := newBuilder()
		at := make([]float32, 3*n)
		for i := range at {
			at[i] = float32(i % 977)
		}
		change(at)
		position, normal := b.floats("VEC3", 3, at...), b.floats("VEC3", 3, at...)
		var list []any
		for _, first := range []int{0, 1000, n - 3} {
			list = append(list, object{
				"attributes": object{"POSITION": position, "NORMAL": normal},
				"indices":    b.accessor(intBytes(first, first+1, first+2), u32, 3, "SCALAR", nil),
			})
		}
		for _, p := range list {
			b.list("meshes", object{"primitives": []any{p}})
			b.list("nodes", object{"mesh": len(b.doc["meshes"].([]any)) - 1})
		}
		b.doc["scenes"] = []any{object{"nodes": []int{0, 1, 2}}}
		return b
	}
	open := func(b *builder) (*Scene, error) {
		path := filepath.Join(write(t, map[string]string{"a.glb": string(b.glb())}), "a.glb")
		return Open(context.Background(), path, DefaultOptions(), 0, nil)
	}
	s, err := open(build(func([]float32) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, first := range []int{0, 1000, n - 3} {
		list, err := s.Geometry(i)
		if err != nil || len(list[0].Positions) != 3 || cap(list[0].Positions) != 3 || list[0].Positions[0][0] != float32(3*first%977) || !slices.Equal(list[0].Indices, []uint32{0, 1, 2}) {
			t.Errorf("%d: %v, %v", i, list, err)
		}
	}
	nan := func(at []float32) { at[3*(n/2)] = float32(math.NaN()) }
	if _, err := open(build(nan)); err == nil || !strings.Contains(err.Error(), "element 100000 is not finite") {
		t.Errorf("a position that nobody uses: %v", err)
	}
}

// TestChangedWhileOpen: a file that becomes another one after it was opened is an error,
// and never other geometry than that which was counted.
func TestChangedWhileOpen(t *testing.T) {
	b, _ := oneTriangle()
	path := filepath.Join(write(t, map[string]string{"a.glb": string(b.glb())}), "a.glb")
	s, err := Open(context.Background(), path, DefaultOptions(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.geometry.cache = newCache(0)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, path, string(whole[:100])) // in place
	if _, err := s.Geometry(0); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if err := s.Unchanged(); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("again: %v", err)
	}
}

// TestCache: what is held stays within the limit but for the last few, and what is asked
// for again is made again at most.
func TestCache(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(0, 50).Draw(rt, "limit")
		c := newCache(limit)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			key, size := rapid.IntRange(0, 9).Draw(rt, "key"), int64(0)
			made := false
			had := c.has(key)
			v, err := cached(c, key, func() (int, int64, error) {
				made, size = true, int64(key*3)
				if key == 9 {
					return 0, 0, os.ErrInvalid
				}
				return key * 7, size, nil
			})
			if had == made || (err != nil) != (key == 9) || err == nil && v != key*7 {
				rt.Fatalf("key %d: %d, %v; had %v, made %v", key, v, err, had, made)
			}
			var sum int64
			for k, e := range c.entries {
				if sum += e.size; e.at == nil || e.size != int64(k.(int)*3) {
					rt.Fatalf("entry %v", k)
				}
			}
			if sum != c.held || c.held > limit && c.recent.Len() > cacheLeast || c.recent.Len() != len(c.entries) {
				rt.Fatalf("%d held of %d in %d entries", c.held, limit, c.recent.Len())
			}
		}
	})
}

// TestSpilledViews: decoded views for which there is no room lie in temporary files, which
// are gone afterwards, also when the scene cannot be opened.
func TestSpilledViews(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	packed := 0
	eachAsset(t, func(name, path string) {
		s, err := Open(context.Background(), path, DefaultOptions(), 0, nil)
		if err == nil {
			packed += len(s.geometry.spills)
			if err := s.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v are left", name, err, left)
		}
	})
	if packed == 0 {
		t.Error("no asset has a compressed view")
	}
}
