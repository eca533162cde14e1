package decoder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// joined is a message as it arrives.
func joined(w *writer) []byte { return bytes.Join(w.message(), nil) }

// sampleAsset is a tile with everything in it.
func sampleAsset() payload.Result {
	a := payload.NewAsset(nil)
	names := map[uint32]string{0: "", 7: "root", 12: "house", 40: "brick", 50: "wall.png"}
	a.Type, a.Dir, a.Level, a.Levels = 1, "/served/tiles", 1, 3
	a.Version = [32]byte{1, 2, 31: 9}
	a.Bounds = records.Bounds{Min: [3]float32{-1, -2, -3}, Max: [3]float32{1, 2, 3}}
	a.Entities = []records.Entity{{ID: 0, ParentID: records.NoIndex, NameOffset: 7}, {ID: 1, NameOffset: 12, MeshCount: 1, LocalTransform: [16]float32{0: 1, 5: 2, 10: 3, 15: 1}}}
	a.Meshes = []records.Mesh{{EntityID: 1, NameOffset: 12, VertexCount: 3, IndexCount: 3, VertexSize: 96, IndexSize: 6, IndexType: 1}}
	a.Materials = []records.Material{{NameOffset: 40, BaseColor: [4]float32{1, .5, .25, 1}, HeightTexture: records.NoIndex, HeightRemap: [2]float32{0, 1}, Reserved: [2]uint32{9, 0}}}
	a.Textures = []records.Texture{{NameOffset: 0, URIOffset: 50, Width: 64, Height: 32}}
	a.Strings = func(at uint32) string { return names[at] }
	a.Geometry.Vertices = bytes.Repeat([]byte{1, 2, 3}, 32)
	a.Geometry.Indices = []byte{0, 0, 1, 0, 2, 0}
	return payload.Result{Asset: a, GeometryBytes: 102, Nodes: 1}
}

func sampleImage() *texfile.Image {
	return &texfile.Image{
		Use: texfile.Normal, Opaque: true, Encoding: texfile.BC5, SourceWidth: 8, SourceHeight: 4,
		Levels: []texfile.Level{{Width: 4, Height: 2, Pix: bytes.Repeat([]byte{5}, 16)}, {Width: 2, Height: 1, Pix: make([]byte, 16)}},
	}
}

func TestAssetRoundTrip(t *testing.T) {
	want := sampleAsset()
	message := joined(writeAsset(99, &want))
	r, kind, token := newReader(message)
	released := 0
	got, err := readAsset(r, func() { released++ })
	if err != nil || kind != kindAsset || token != 99 {
		t.Fatalf("kind %d, token %d, %v", kind, token, err)
	}
	a, b := want.Asset, got.Asset
	type plain struct {
		Result    payload.Result
		Dir       string
		Kind      uint32
		Bounds    records.Bounds
		Level     [2]int
		Version   [32]byte
		Entities  []records.Entity
		Meshes    []records.Mesh
		Materials []records.Material
		Textures  []records.Texture
		Geometry  any
		Names     []string
	}
	view := func(x payload.Result, a *payload.Asset) plain {
		x.Asset = nil
		p := plain{x, a.Dir, uint32(a.Type), a.Bounds, [2]int{a.Level, a.Levels}, a.Version, a.Entities, a.Meshes, a.Materials, a.Textures, a.Geometry, nil}
		for _, at := range []uint32{0, 7, 12, 40, 50, 51, records.NoIndex} {
			p.Names = append(p.Names, a.Strings(at))
		}
		return p
	}
	if diff := cmp.Diff(view(want, a), view(got, b)); diff != "" {
		t.Error(diff)
	}
	more := b.Retain()
	b.Release()
	if released != 0 {
		t.Error("the message went back while a handle holds it")
	}
	if more.Release(); released != 1 {
		t.Errorf("the message went back %d times", released)
	}
}

// TestBlocksAreAligned: devices and drivers get vertices, indices and texels where files
// have them.
func TestBlocksAreAligned(t *testing.T) {
	for n := range 40 {
		w := newWriter(kindImage, 1)
		w.text(strings.Repeat("x", n))
		w.block(make([]byte, n))
		w.block([]byte{7})
		message := joined(w)
		if at := len(message) - 1; at%partAlign != 0 || message[at] != 7 {
			t.Errorf("%d: the last block is at %d", n, at)
		}
	}
}

// samplePacked is the vertices of sampleAsset with a colour and a normal map.
func samplePacked() *render.Packed {
	p := &render.Packed{Layouts: []compact.Layout{compact.Plain, compact.Colored}}
	p.Packing = compact.Packing{Layout: compact.Colored, Lattice: compact.Lattice{Origin: [3]float32{-1, 2, 0.5}, Step: 1.0 / 8192}}
	p.Vertices[compact.Plain] = bytes.Repeat([]byte{1, 2}, 16)
	p.Vertices[compact.Colored] = bytes.Repeat([]byte{3, 4, 5}, 8)
	return p
}

func TestPackedRoundTrip(t *testing.T) {
	want := samplePacked()
	r, kind, token := newReader(joined(writePacked(9, want)))
	released := 0
	got, err := readPacked(r, func() { released++ })
	if err != nil || kind != kindPacked || token != 9 {
		t.Fatalf("kind %d, token %d, %v", kind, token, err)
	}
	if got.Release(); released != 1 {
		t.Error("the message does not go back")
	}
	got.Release = nil
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestImageRoundTrip(t *testing.T) {
	want := sampleImage()
	r, kind, token := newReader(joined(writeImage(5, want)))
	got, err := readImage(r)
	if err != nil || kind != kindImage || token != 5 {
		t.Fatalf("kind %d, token %d, %v", kind, token, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsRoundTrip(t *testing.T) {
	kept := payload.NewAsset(nil)
	kept.Version[3] = 4
	want := payload.Request{
		Token: 8, Key: payload.Key{Scene: 2, Tile: -1, Rep: payload.LOD(2), Part: 3}, TileID: "tile_1", Attempt: 2, Dir: "/served", Path: "tiles/a b.untold",
		Local: payload.Fetched{File: "/x", Dir: "/y"}, Size: 3 << 30, SHA256: "ab",
	}
	sent := want
	sent.Kept = kept
	r, _, token := newReader(joined(writeLoad(&sent)))
	got, version, err := readLoad(r, token)
	if err != nil || version != kept.Version {
		t.Fatalf("%v, %v", version, err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(payload.Key{})); diff != "" {
		t.Error(diff)
	}
	// Declared sizes are as large as manifests can say, and no larger.
	for size, sound := range map[int64]bool{math.MaxInt64: true, math.MinInt64: false} {
		w := newWriter(kindLoad, 8)
		w.u64(uint64(size))
		r, _, _ := newReader(joined(w))
		if got := r.size(); sound && got != size || (r.end() == nil) != sound {
			t.Errorf("%d: %d, %v", size, got, r.err)
		}
	}
	q := textureRequest{"/served/tiles", "Textures/ü.png", texfile.Options{Use: texfile.OpaqueColor, Cutoff: .5, MaxSize: 256, MaxPixels: 1 << 20, ASTC: true, WebGL: true}}
	r, _, _ = newReader(joined(writeTexture(3, &q)))
	if again, err := readTexture(r); err != nil || fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", q) {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestFailureRoundTrip(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("tile a, full: %w: the SHA-256 differs: cook the scene again", payload.ErrMismatch),
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, context.Canceled, fmt.Errorf("wall.png: %w", texfile.ErrDamaged), errors.New("another"),
	} {
		r, _, _ := newReader(joined(writeFailure(1, err)))
		got, bad := readFailure(r)
		if bad != nil || got.Error() != err.Error() {
			t.Fatalf("%v: %v, %v", err, got, bad)
		}
		for _, kind := range kinds {
			if errors.Is(got, kind) != errors.Is(err, kind) {
				t.Errorf("%v: is it %v?", err, kind)
			}
		}
	}
}

// messages has one of each kind.
func messages() [][]byte {
	x := sampleAsset()
	return [][]byte{
		joined(writeAsset(1, &x)), joined(writeImage(2, sampleImage())), joined(writeFailure(3, payload.ErrMismatch)), joined(newWriter(kindKept, 4)), joined(writePacked(8, samplePacked())),
		joined(newWriter(kindReady, 0)), joined(newWriter(kindCancel, 5)), joined(writeLoad(&payload.Request{Token: 6, TileID: "t", Path: "a.untold"})),
		joined(writeTexture(7, &textureRequest{"d", "u", texfile.Options{MaxSize: 4}})),
	}
}

// readAny reads a message of any kind.
func readAny(message []byte) error {
	r, kind, token := newReader(message)
	if r.err != nil {
		return r.err
	}
	var err error
	switch kind {
	case kindAsset:
		_, err = readAsset(r, nil)
	case kindImage:
		_, err = readImage(r)
	case kindPacked:
		_, err = readPacked(r, nil)
	case kindFailure:
		_, err = readFailure(r)
	case kindLoad:
		_, _, err = readLoad(r, token)
	case kindTexture:
		_, err = readTexture(r)
	default:
		err = r.end()
	}
	return err
}

// TestCutMessages: a message that ends early, or goes on, is an error that says where.
func TestCutMessages(t *testing.T) {
	for _, m := range messages() {
		if err := readAny(m); err != nil {
			t.Fatal(err)
		}
		for n := range m {
			if err := readAny(m[:n]); !errors.Is(err, ErrWire) {
				t.Fatalf("kind %d, %d of %d bytes: %v", m[1], n, len(m), err)
			}
		}
		if err := readAny(append(bytes.Clone(m), 0)); !errors.Is(err, ErrWire) {
			t.Errorf("kind %d and a byte: %v", m[1], err)
		}
	}
}

func TestBadMessages(t *testing.T) {
	for _, c := range []struct {
		name    string
		message []byte
		want    string
	}{
		{"nothing", nil, "0 bytes begin with"},
		{"another form", append([]byte{form + 1}, make([]byte, 11)...), "want 1 and a kind"},
		{"many entities", func() []byte {
			w := newWriter(kindAsset, 1)
			w.b = append(w.b, make([]byte, 3*8+3*4)...)
			w.text("")
			w.b = append(w.b, make([]byte, 32+24)...)
			w.u32(1 << 30)
			return joined(w)
		}(), "1073741824 records of 136 bytes"},
		{"levels of another size", func() []byte {
			img := sampleImage()
			img.Levels[1].Width = 3
			return joined(writeImage(1, img))
		}(), "level 2 is 3 x 1 texels"},
		{"a layout that is none", func() []byte {
			p := samplePacked()
			p.Layouts[1] = compact.Layouts
			return joined(writePacked(1, p))
		}(), "layout 4"},
		{"a lattice of nothing", func() []byte {
			p := samplePacked()
			p.Packing.Step = 0
			return joined(writePacked(1, p))
		}(), "a step of 0"},
		{"a lattice nowhere", func() []byte {
			p := samplePacked()
			p.Packing.Origin[2] = float32(math.NaN())
			return joined(writePacked(1, p))
		}(), "NaN"},
		{"a use that is none", func() []byte {
			img := sampleImage()
			img.Use = 200
			return joined(writeImage(1, img))
		}(), "use 200"},
	} {
		if err := readAny(c.message); !errors.Is(err, ErrWire) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// FuzzMessages: no bytes break a side, or have it allocate what they cannot back.
func FuzzMessages(f *testing.F) {
	for _, m := range messages() {
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		fuzzbound.Run(t, len(message), fuzzbound.Limits{Alloc: 1 << 20, PerByte: 16}, func() {
			if err := readAny(message); err != nil && !errors.Is(err, ErrWire) {
				t.Errorf("%v", err)
			}
		})
	})
}
