package appearance

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/geom"
)

// A post on a wide, dark floor stands upright in a picture from every side, and
// is the brighter of the two.
func TestPicture(t *testing.T) {
	m := &Mesh{}
	m.addBox(geom.Vec3{-2, 0, -2}, geom.Vec3{2, 0.1, 2}, 1)
	m.addBox(geom.Vec3{-0.5, 0, -0.5}, geom.Vec3{0.5, 6, 0.5}, 0)
	r := New(m, paints)
	for side := range Views {
		p := r.Draw(nil, side, 0.05)
		p.Half()
		img, covered := p.Image()
		w, h := img.Rect.Dx(), img.Rect.Dy()
		if len(covered) != w*h {
			t.Fatalf("side %d: %d x %d pixels, %d are covered or not", side, w, h, len(covered))
		}
		first, last := -1, -1 // rows
		for i, c := range covered {
			switch {
			case c && first < 0:
				first = i
			case !c && img.NRGBAAt(i%w, i/w) != (color.NRGBA{187, 187, 187, 255}):
				t.Fatalf("side %d: the sky is %v", side, img.NRGBAAt(i%w, i/w))
			}
			if c {
				last = i
			}
		}
		top, floor := img.NRGBAAt(first%w, first/w+4), img.NRGBAAt(last%w, last/w-2)
		if !(top.R > 100 && floor.R < 80) {
			t.Errorf("side %d: the post's top is %v, the floor %v", side, top, floor)
		}
		if whole := r.Draw(m, side, 0.1); side == 0 && whole.p.w > w+tile {
			t.Errorf("pixels of twice the size, drawn or halved: %d and %d in a row", whole.p.w, w)
		}
	}
	p := r.Draw(nil, 0, 0.01)
	for range MaxHalves {
		w := p.p.w
		if p.Half(); 2*p.p.w != w {
			t.Fatalf("half of %d pixels is %d", w, p.p.w)
		}
	}
}

// The same mesh gives the same picture, whether it is the reference or not.
func TestPictureOfLevel(t *testing.T) {
	r := New(house(window), paints)
	a, _ := r.Draw(nil, 5, 0.1).Image()
	b, _ := r.Draw(house(window), 5, 0.1).Image()
	if !bytes.Equal(a.Pix, b.Pix) {
		t.Error("the pictures differ")
	}
	c, _ := r.Draw(house(func(*Mesh, geom.Vec3) {}), 5, 0.1).Image()
	if bytes.Equal(a.Pix, c.Pix) {
		t.Error("windows are not seen")
	}
}

func TestReadTexture(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 4*textureSide, 2))
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	tex, err := ReadTexture(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if l := tex.levels[0]; l.w != textureSide || l.h != 1 {
		t.Errorf("%d x %d pixels are kept", l.w, l.h)
	}
	if _, err := ReadTexture(b.Bytes()[:20]); err == nil {
		t.Error("a broken image is no error")
	}
}

func TestLook(t *testing.T) {
	got := Look(&gltfscene.Material{BaseColor: [4]float32{1, 0.5, 0, 1}, AlphaMode: gltfscene.AlphaMask, AlphaCutoff: 0.5, DoubleSided: true})
	if want := (Material{Color: [4]float32{1, 0.5, 0, 1}, Masked: true, Cutoff: 0.5, DoubleSided: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Look(&gltfscene.Material{AlphaMode: gltfscene.AlphaBlend}); !got.Transparent || got.Masked {
		t.Errorf("%+v", got)
	}
}
