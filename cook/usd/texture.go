package usd

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"strings"

	tex "github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/picture"
)

// texture is a UsdUVTexture.
type texture struct {
	place        string
	file         source
	primvar      string
	transform    *uvTransform
	wrapS, wrapT int
	scale, bias  [4]float64
	raw          bool // its colours are linear
	srgb         bool // its numbers are not
}

// Wrapping of glTF 2.0, section 5.26.
const (
	wrapClamp  = 33071
	wrapMirror = 33648
)

// texture reads a texture; nil for one that is left out.
func (w *walker) texture(p *prim) (*texture, error) {
	t := &texture{place: p.path, scale: [4]float64{1, 1, 1, 1}}
	e, err := w.follow(p, "inputs:file")
	if err != nil {
		return nil, err
	}
	name, from, err := w.asset(e.p, e.name)
	if err != nil {
		return nil, err
	}
	if name == "" || from == nil {
		w.note("usd-textures-empty", false, p.path, "textures that name no file were left out")
		return nil, nil
	}
	if strings.Contains(strings.ToUpper(name), "<UDIM>") {
		w.note("usd-udim-skipped", true, p.path, "textures of several tiles (UDIM) were left out")
		return nil, nil
	}
	if t.file, err = w.resolve(from.source, name, p.path); err != nil {
		if !w.optional(err) {
			return nil, err
		}
		w.note("usd-images-missing", true, p.path, "images that are missing were left out")
		return nil, nil
	}
	if t.primvar, t.transform, err = w.coordinates(p); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		name string
		to   *int
	}{{"inputs:wrapS", &t.wrapS}, {"inputs:wrapT", &t.wrapT}} {
		e, err := w.follow(p, s.name)
		if err != nil {
			return nil, err
		}
		mode, err := w.word(e.p, e.name, "useMetadata")
		if err != nil {
			return nil, err
		}
		switch *s.to = glb.WrapRepeat; mode {
		case "clamp", "black":
			*s.to = wrapClamp
		case "mirror":
			*s.to = wrapMirror
		}
	}
	for _, s := range []struct {
		name string
		to   *[4]float64
	}{{"inputs:scale", &t.scale}, {"inputs:bias", &t.bias}} {
		e, err := w.follow(p, s.name)
		if err != nil {
			return nil, err
		}
		n, err := w.numbers(e.p, e.name, 4)
		if err != nil {
			return nil, err
		}
		for i := range s.to {
			if n != nil && n.At(i)-n.At(i) == 0 {
				s.to[i] = min(max(n.At(i), -1e6), 1e6)
			}
		}
	}
	if e, err = w.follow(p, "inputs:sourceColorSpace"); err != nil {
		return nil, err
	}
	space, err := w.word(e.p, e.name, "auto")
	t.raw, t.srgb = space == "raw", space == "sRGB"
	return t, err
}

// sameImage reports whether two textures show the same in the same places.
func (t *texture) sameImage(o *texture) bool {
	same := t.transform == o.transform || t.transform != nil && o.transform != nil && *t.transform == *o.transform
	return same && t.file == o.file && t.primvar == o.primvar && t.wrapS == o.wrapS && t.wrapT == o.wrapT && t.raw == o.raw && t.srgb == o.srgb
}

// direct reports whether an image can be shown as it is, with factors for its first n
// channels: those of glTF only darken.
func (t *texture) direct(n int) bool {
	for i := range 4 {
		if t.bias[i] != 0 || t.scale[i] < 0 || t.scale[i] > 1 {
			return false
		}
	}
	return n > 1 || !t.srgb && t.scale == [4]float64{1, 1, 1, 1}
}

// channel is where a channel of an image comes from: a channel of a texture, or a number.
type channel struct {
	tex         *texture
	at          int // of red, green, blue and alpha
	scale, bias float64
	fixed       float64 // without a texture
	color       bool    // it is stored as sRGB
}

// channel returns a channel of what an output gives: of rgb the one of a number.
func (t *texture) channel(out string, i int) channel {
	if k := strings.Index("rgba", out); len(out) == 1 && k >= 0 {
		i = k
	}
	return channel{tex: t, at: i, scale: t.scale[i], bias: t.bias[i]}
}

// ref makes a texture one of the material's.
func (m *previewSurface) ref(t *texture) (*textureRef, error) {
	i, err := m.imageOf(t)
	if err != nil {
		return nil, err
	}
	return m.refTo(i, t), nil
}

// refTo shows an image where a texture is.
func (m *previewSurface) refTo(image int, t *texture) *textureRef {
	return &textureRef{image: image, set: m.set(t.primvar), wrapS: t.wrapS, wrapT: t.wrapT, transform: t.transform}
}

// set returns the set of texture coordinates that a primvar becomes.
func (m *previewSurface) set(primvar string) int {
	for i, name := range m.look.uvs {
		if name == primvar {
			return i
		}
	}
	if len(m.look.uvs) == 2 {
		m.note("usd-uv-sets-skipped", true, m.path, "texture coordinates beyond the second set were left out")
		return 1
	}
	m.look.uvs = append(m.look.uvs, primvar)
	return len(m.look.uvs) - 1
}

// imageOf returns the number of a texture's image, which is a file, or bytes of a package.
func (m *previewSurface) imageOf(t *texture) (int, error) {
	key := "image " + t.file.String()
	if i, ok := m.materialOf[key]; ok {
		return i, nil
	}
	i := len(m.doc.images)
	if t.file.pkg == nil {
		m.doc.images = append(m.doc.images, members{"uri": glb.EscapeURI(t.file.name)})
	} else {
		data, err := m.bytes(t.file)
		if err != nil {
			return 0, place(t.place, err)
		}
		if err := m.addImage(data, stem(t.file.name)); err != nil {
			return 0, err
		}
	}
	m.doc.places = append(m.doc.places, t.place)
	m.materialOf[key] = i
	return i, nil
}

// bytes reads a file.
func (m *previewSurface) bytes(s source) ([]byte, error) {
	f, size, err := m.open(s)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > m.opts.memory()/4 {
		return nil, tooLarge("", "file %q has %d bytes, a quarter of the memory has %d", clip(s.String()), size, m.opts.memory()/4)
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, malformed("", "file %q cannot be read: %v", clip(s.String()), err)
	}
	return data, nil
}

// addImage puts an image into the buffer.
func (m *previewSurface) addImage(data []byte, name string) error {
	if err := m.emit(make([]byte, (4-m.n%4)%4)); err != nil {
		return err
	}
	image := members{"bufferView": len(viewStrides) + len(m.images), "name": name}
	if mime := picture.Sniff(data).MIME; mime != "" {
		image["mimeType"] = mime
	}
	m.doc.images = append(m.doc.images, image)
	m.images = append(m.images, imageView{m.n, int64(len(data))})
	if err := m.emit(data); err != nil {
		return err
	}
	return m.emit(make([]byte, (4-m.n%4)%4))
}

// combine makes an image of channels of others, where a texture is; another one, if there
// is one, lies in the same places.
func (m *previewSurface) combine(c [4]channel, at, other *texture) (*textureRef, error) {
	if at == nil {
		at = other
	}
	key := "combined"
	for i := range c {
		if c[i].tex != nil {
			if c[i].tex.primvar != at.primvar || (c[i].tex.transform == nil) != (at.transform == nil) {
				m.note("usd-textures-joined", true, m.path, "textures that lie by different coordinates were joined as if they lay alike")
			}
			key += fmt.Sprint(" ", c[i].tex.file.String(), c[i].at, c[i].scale, c[i].bias, c[i].color, c[i].tex.raw, c[i].tex.srgb)
		} else {
			key += fmt.Sprint(" ", c[i].fixed)
		}
	}
	i, ok := m.materialOf[key]
	if !ok {
		data, err := m.draw(c)
		if err != nil {
			return nil, err
		}
		if data == nil { // which the import would say, too
			return m.ref(at)
		}
		i = len(m.doc.images)
		if err := m.addImage(data, m.look.name+"_"+stem(lastPart(at.file.name))); err != nil {
			return nil, err
		}
		m.doc.places = append(m.doc.places, at.place)
		m.materialOf[key] = i
	}
	return m.refTo(i, at), nil
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// draw makes a PNG of channels; nil where one of their images cannot be read.
func (m *previewSurface) draw(c [4]channel) ([]byte, error) {
	from := map[source]*image.NRGBA{}
	width, height := 0, 0
	for i := range c {
		t := c[i].tex
		if t == nil {
			continue
		}
		if from[t.file] == nil {
			data, err := m.bytes(t.file)
			if err != nil {
				return nil, place(t.place, err)
			}
			img, err := tex.Read(data, tex.Limits{Each: m.opts.memory() / 2})
			if err != nil {
				m.note("usd-textures-unread", true, t.place, "textures whose channels must be put together cannot be decoded: "+err.Error())
				return nil, nil
			}
			from[t.file] = img
		}
		b := from[t.file].Bounds()
		width, height = max(width, b.Dx()), max(height, b.Dy())
	}
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	for k := range c {
		m.fill(out, k, &c[k], from)
	}
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, out); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// fill draws one channel.
func (m *previewSurface) fill(out *image.NRGBA, k int, c *channel, from map[source]*image.NRGBA) {
	var table [256]uint8
	for v := range table {
		x := float64(v) / 255
		if c.tex == nil {
			x = c.fixed
		} else {
			if c.color && !c.tex.raw && c.at < 3 || !c.color && c.tex.srgb && c.at < 3 {
				x = float64(tex.Linear(uint8(v)))
			}
			x = float64(x*c.scale) + c.bias
		}
		if x = unit(x, 0); c.color {
			table[v] = tex.FromLinear(float32(x))
		} else {
			table[v] = uint8(float64(x*255) + 0.5)
		}
	}
	b := out.Bounds()
	for y := range b.Dy() {
		row := out.Pix[y*out.Stride:]
		if c.tex == nil {
			for x := range b.Dx() {
				row[4*x+k] = table[0]
			}
			continue
		}
		img := from[c.tex.file]
		w, h := img.Bounds().Dx(), img.Bounds().Dy()
		src := img.Pix[y*h/b.Dy()*img.Stride:]
		for x := range b.Dx() {
			row[4*x+k] = table[src[4*(x*w/b.Dx())+c.at]]
		}
	}
}
