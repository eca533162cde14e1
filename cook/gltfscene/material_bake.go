package gltfscene

import (
	"bytes"
	"fmt"
	"image"
	"sync"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
)

// glossBake is a store of an image that is made of a specular-glossiness material's: a KTX2
// file of plain pixels, whose size is known before it is made.
type glossBake struct {
	diffuse, gloss extent // encoded images; the former may be none
	factors        glossFactors
	metalRough     bool // the image that is made, else the base colour
	width, height  int
}

// glossFactors are what the texels of a material are multiplied with: diffuse, specular and
// glossiness.
type glossFactors [7]float64

// mostBaked is how many texels an image that is made has at most.
const mostBaked = 4096 * 4096

// baking keeps several images from being made at a time, each of which takes some times its
// pixels.
var baking sync.Mutex

// size is the number of bytes of the image.
func (g *glossBake) size() (int, error) {
	one, err := g.file(1, 1, make([]byte, 4))
	return len(one) - 4 + 4*g.width*g.height, err
}

func (g *glossBake) file(w, h int, pix []byte) ([]byte, error) {
	c := ktx2.Content{Format: ktx2.RGBA8SRGB, Width: w, Height: h, Transfer: ktx2.TransferSRGB, Levels: [][]byte{pix}}
	if g.metalRough {
		c.Format, c.Transfer = ktx2.RGBA8, ktx2.TransferLinear
	}
	var out bytes.Buffer
	err := ktx2.Write(&out, c)
	return out.Bytes(), err
}

func (g *glossBake) reader() (ranges, func(), error) {
	baking.Lock()
	defer baking.Unlock()
	diffuse, gloss, err := g.images()
	if err != nil {
		return ranges{}, nil, err
	}
	data, err := g.file(g.width, g.height, g.bake(diffuse, gloss))
	return ranges{all: data}, func() {}, err
}

// images decodes what the image is made of; diffuse is nil for none.
func (g *glossBake) images() (diffuse, gloss *image.NRGBA, err error) {
	if g.diffuse.store != nil {
		if diffuse, err = decodePicture(g.diffuse); err != nil {
			return nil, nil, err
		}
	}
	gloss, err = decodePicture(g.gloss)
	return diffuse, gloss, err
}

// decodePicture decodes an image of mostBaked texels at most.
func decodePicture(x extent) (*image.NRGBA, error) {
	data, err := x.bytes()
	if err != nil {
		return nil, err
	}
	cost, ok := picture.Inspect(data)
	if f, err := ktx2.Parse(data); !ok && err == nil {
		cost.Width, cost.Height = f.Size(0)
	}
	if cost.Width > mostBaked || cost.Height > mostBaked || cost.Width*cost.Height > mostBaked {
		return nil, malformed("", "an image has %d x %d texels, more than %d", cost.Width, cost.Height, mostBaked)
	}
	img, err := texture.Read(data, texture.Limits{Each: 32 * mostBaked})
	if err != nil {
		return nil, malformed("", "%v", err)
	}
	return img, nil
}

// bake computes the texels, each from the nearest ones.
func (g *glossBake) bake(diffuse, gloss *image.NRGBA) []byte {
	out := make([]byte, 4*g.width*g.height)
	at := func(img *image.NRGBA, x, y int) []byte {
		w, h := img.Rect.Dx(), img.Rect.Dy()
		i := img.PixOffset(img.Rect.Min.X+(2*x+1)*w/(2*g.width), img.Rect.Min.Y+(2*y+1)*h/(2*g.height))
		return img.Pix[i : i+4]
	}
	f := &g.factors
	for y := range g.height {
		for x := range g.width {
			d, s, p := [3]float64(f[:3]), [3]float64(f[3:6]), out[4*(y*g.width+x):]
			p[3] = 255
			if diffuse != nil {
				t := at(diffuse, x, y)
				for i := range d {
					d[i] *= float64(texture.Linear(t[i]))
				}
				p[3] = t[3]
			}
			t := at(gloss, x, y)
			for i := range s {
				s[i] *= float64(texture.Linear(t[i]))
			}
			base, metallic := metalFrom(d, s)
			if g.metalRough {
				rough := 1 - float64(f[6]*float64(t[3]))/255
				p[0], p[1], p[2], p[3] = 255, byte(float64(rough*255)+0.5), byte(float64(metallic*255)+0.5), 255
				continue
			}
			for i := range base {
				p[i] = texture.FromLinear(float32(base[i]))
			}
		}
	}
	return out
}

// bakeGloss gives a material the textures of metallic-roughness that reflect like those of a
// specular-glossiness one. It returns an error where they cannot be made of these.
func (mr *materialReader) bakeGloss(m *Material, place string, sg []byte, factors glossFactors) error {
	var refs [2]TextureRef
	var from [2]extent
	for i, name := range [...]string{"diffuseTexture", "specularGlossinessTexture"} {
		ref, x, err := mr.peekTexture(place+"."+name, sg, name)
		if err != nil {
			return err
		}
		refs[i], from[i] = ref, x
	}
	g := glossBake{diffuse: from[0], gloss: from[1], factors: factors}
	if g.gloss.store == nil {
		return malformed("", "its texture has no image")
	}
	if g.diffuse.store != nil {
		a, b := refs[0], refs[1]
		if a.Image, b.Image = 0, 0; a != b {
			return malformed("", "the two textures have different coordinates")
		}
	}
	key := fmt.Sprint(refs[0].Image, refs[1].Image, factors)
	if _, ok := mr.baked[key]; !ok {
		baking.Lock()
		diffuse, gloss, err := g.images()
		baking.Unlock()
		if err != nil {
			return err
		}
		g.width, g.height = gloss.Rect.Dx(), gloss.Rect.Dy()
		if diffuse != nil && diffuse.Rect.Dx()*diffuse.Rect.Dy() > g.width*g.height {
			g.width, g.height = diffuse.Rect.Dx(), diffuse.Rect.Dy()
		}
		mr.baked[key] = len(mr.doc.images.raw) + len(mr.made)
		for _, metalRough := range []bool{false, true} {
			made := g
			made.metalRough = metalRough
			n, err := made.size()
			if err != nil {
				return err
			}
			name := m.Name + "_baseColor"
			if metalRough {
				name = m.Name + "_metallicRoughness"
			}
			mr.made = append(mr.made, Image{
				Index: len(mr.doc.images.raw) + len(mr.made), Name: name, Place: place, MIME: "image/ktx2", at: extent{&made, 0, n},
			})
		}
	}
	first := mr.baked[key]
	for i, ref := range []*TextureRef{&m.BaseColorTex, &m.MetalRoughTex} {
		*ref = refs[1]
		ref.Image = first + i
		mr.images[ref.Image] = -1
	}
	return nil
}

// peekTexture reads a slot, and where its image lies, without taking the image into the
// scene; Image is -1, and there are no bytes, where the slot is empty.
func (mr *materialReader) peekTexture(place string, holder []byte, name string) (ref TextureRef, x extent, err error) {
	ref = TextureRef{Image: -1, Scale: [2]float64{1, 1}}
	info := jsonscan.Member(holder, name)
	if !isObjectValue(info) {
		return ref, x, nil
	}
	if err := mr.textureSlot(&ref, place, info); err != nil || ref.Image < 0 {
		return ref, x, err
	}
	img, err := mr.image(ref.Image)
	return ref, img.at, err
}
