package preview

import (
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/preview/render"
)

// rootedAndBaked writes a block of houses twice: with a root transform in its
// header and with the same one in its entities.
func rootedAndBaked(t *testing.T, root geom.Mat4) (rooted, baked string) {
	t.Helper()
	dir := t.TempDir()
	rooted, baked = filepath.Join(dir, "rooted.untold"), filepath.Join(dir, "baked.untold")
	writeBlock(t, baked, geom.Vec3{}, 3, 0)
	r, err := format.Open(baked)
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.ToFile()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := f.Encode(format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range root {
		binary.LittleEndian.PutUint32(b[76+4*i:], math.Float32bits(float32(v)))
	}
	if err := os.WriteFile(rooted, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range f.Entities {
		e := &f.Entities[i]
		var local geom.Mat4
		for k, v := range e.LocalTransform {
			local[k] = float64(v)
		}
		local = root.Mul(local)
		for k, v := range local {
			e.LocalTransform[k] = float32(v)
		}
		box := geom.Box{Min: geom.FromF32(e.LocalBounds.Min), Max: geom.FromF32(e.LocalBounds.Max)}.Transform(&root)
		e.WorldBounds = records.Bounds{Min: box.Min.F32(), Max: box.Max.F32()}
	}
	if b, err = f.Encode(format.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(baked, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return rooted, baked
}

// A file with a root transform looks like one that has it in its entities,
// shadows included, and shows from the same place.
func TestRootTransform(t *testing.T) {
	root := geom.TRS(geom.Vec3{300, -40, 120}, [4]float64{0, math.Sin(0.3), 0, math.Cos(0.3)}, geom.Vec3{2, 3, 2})
	rooted, baked := rootedAndBaked(t, root)
	var pictures []image.Image
	for _, path := range []string{rooted, baked} {
		o := options(t, path)
		l, err := o.Scenes[0].Load()
		if err != nil {
			t.Fatal(err)
		}
		b := l.Source.Manifest.Tiles[0].Bounds.Box()
		if want := root.Point(geom.Vec3{15, 5, 15}); b.Distance(want) > 0 || b.Size()[0] > 130 {
			t.Errorf("%s: the tile has the box %v, %v is not in it", filepath.Base(path), b, want)
		}
		o.Width, o.Height, o.Frames, o.FixedDT = 160, 120, 12, 200*time.Millisecond
		eye := root.Point(geom.Vec3{15, 30, 60})
		o.Path = still(eye, root.Point(geom.Vec3{15, 5, 15}).Sub(eye), 4)
		o.Render = render.Options{ShadowSize: 512}
		needGL(t)
		o.Screenshot = filepath.Join(t.TempDir(), "a.png")
		if _, err := Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		pictures = append(pictures, readPNG(t, o.Screenshot))
	}
	colors := map[color.Color]bool{}
	differ := 0
	size := pictures[0].Bounds()
	for y := range size.Dy() {
		for x := range size.Dx() {
			a, b := pictures[0].At(x, y), pictures[1].At(x, y)
			colors[a] = true
			if a != b {
				differ++
			}
		}
	}
	if differ > 0 || size != pictures[1].Bounds() {
		t.Errorf("%d pixels of %v differ", differ, size)
	}
	if len(colors) < 50 {
		t.Errorf("the picture has %d colours: nothing is in it", len(colors))
	}
}

// The place to stand in indoors is found in the world, whatever parents and root
// transforms lead there.
func TestTrianglesStandInTheWorld(t *testing.T) {
	root := geom.TRS(geom.Vec3{300, -40, 120}, [4]float64{0, 0, 0, 1}, geom.Vec3{2, 2, 2})
	rooted, baked := rootedAndBaked(t, root)
	a := appendTriangles(nil, filepath.Dir(rooted), filepath.Base(rooted))
	b := appendTriangles(nil, filepath.Dir(baked), filepath.Base(baked))
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d triangles", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("triangle %d: %v and %v", i, a[i], b[i])
		}
	}
	if a[0][0][0] < 299 {
		t.Errorf("%v", a[0])
	}
}
