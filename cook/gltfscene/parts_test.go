package gltfscene

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

// readerOf returns a dataReader of a document beside some files.
func readerOf(t *testing.T, json string, files fstest.MapFS, o Options) *dataReader {
	t.Helper()
	doc, err := parseDocument([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	se := &session{ctx: t.Context(), opts: o, doc: doc, scene: &Scene{}, src: fsSource{fsys: files, dir: "."}}
	dr := newDataReader(se, 1000, newCache(math.MaxInt64))
	return &dr
}

func TestDecodedBytesAreLimited(t *testing.T) {
	const document = `{"asset":{"version":"2.0"}}`
	for _, c := range []struct {
		name        string
		limit       int64
		count, size int64
		ok          bool
	}{
		{"within", 100, 10, 10, true},
		{"one too many", 100, 101, 1, false},
		{"by the size of the file", 0, 1, 64<<20 + 32*1000, true},
		{"more than that", 0, 1, 64<<20 + 32*1000 + 1, false},
		{"a product that would overflow", math.MaxInt64, 1 << 53, 1 << 20, false},
	} {
		dr := readerOf(t, document, nil, Options{MaxDecodedBytes: c.limit})
		err := dr.reserve("here", c.count, c.size)
		if err == nil {
			err = dr.checkReserved()
		}
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// No view leads out of its buffer, and a file that is gone or another one is an error.
func TestDataReaderViews(t *testing.T) {
	files := fstest.MapFS{"a.bin": {Data: []byte("0123456789")}}
	dr := readerOf(t, `{"asset":{"version":"2.0"},
		"buffers":[{"uri":"a.bin","byteLength":10},{"uri":"none.bin","byteLength":1}],
		"bufferViews":[
			{"buffer":0,"byteOffset":2,"byteLength":3},
			{"buffer":0,"byteOffset":8,"byteLength":3},
			{"buffer":1,"byteLength":1},
			{"buffer":7,"byteLength":1}]}`, files, Options{})
	get := func(i int) (string, error) {
		v, err := dr.view(i)
		if err != nil {
			return "", err
		}
		data, err := v.at.bytes()
		return string(data), err
	}
	for i, want := range []string{"234", "", "", ""} {
		if got, err := get(i); got != want || (err == nil) != (want != "") {
			t.Errorf("view %d: %q, %v", i, got, err)
		}
	}
	files["a.bin"] = &fstest.MapFile{Data: []byte("0123456789abc")}
	if got, err := get(0); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "has changed while the scene was read") {
		t.Errorf("another file: %q, %v", got, err)
	}
	delete(files, "a.bin")
	if got, err := get(0); !errors.Is(err, ErrMissingFile) {
		t.Errorf("without the file: %q, %v", got, err)
	}
	if dr.bufferBytes != 1010 {
		t.Errorf("%d bytes of the file and its buffers", dr.bufferBytes)
	}
}

func TestRelatedNodes(t *testing.T) {
	// 0 holds 1, which holds 2; 3 is beside them.
	np := nodePlacer{session: &session{scene: &Scene{Nodes: []Node{{Parent: -1}, {Parent: 0}, {Parent: 1}, {Parent: -1}}}}}
	for _, c := range []struct {
		a, b int
		want bool
	}{{0, 0, true}, {0, 2, true}, {2, 0, true}, {1, 2, true}, {0, 3, false}, {3, 2, false}} {
		if got := np.related(c.a, c.b); got != c.want {
			t.Errorf("%d and %d: %v", c.a, c.b, got)
		}
	}
}

func TestPlacedTrianglesAreLimited(t *testing.T) {
	for _, c := range []struct {
		limit int64
		nodes []int // their meshes
		ok    bool
	}{
		{0, []int{0, 0, 0, 1}, true},
		{8, []int{0, 0, -1}, true}, // two of mesh 0
		{7, []int{0, 0, -1}, false},
		{14, []int{0, 1}, true},
		{13, []int{1, 0}, false},
	} {
		scene := &Scene{Meshes: make([]Mesh, 2)}
		for _, m := range c.nodes {
			scene.Nodes = append(scene.Nodes, Node{Mesh: m})
		}
		mp := newMeshPlanner(&session{scene: scene, opts: Options{MaxTriangles: c.limit}}, nil)
		mp.plans = []plan{{mesh: 0, count: 12, elements: 12}, {mesh: 1, count: 30, elements: 30}}
		if err := mp.checkPlaced("scenes[0]"); (err == nil) != c.ok {
			t.Errorf("limit %d, %v: %v", c.limit, c.nodes, err)
		}
	}
}
