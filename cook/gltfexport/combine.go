package gltfexport

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// source is one of two textures to combine.
type source struct {
	record  uint32
	texture int    // of the document, -1 for none
	channel uint32 // 0 red to 3 alpha
}

// combination names a combined texture by the contents that it is made of.
type combination struct {
	rough, metal               int
	roughChannel, metalChannel uint32
}

// combine makes the texture that glTF wants, roughness in green and metallic
// in blue, both linear, and puts it into the buffer. It returns -1 when a
// source cannot be decoded or is too large.
func (t *textures) combine(c *container, rough, metal source) (int, error) {
	key := combination{rough.texture, metal.texture, rough.channel, metal.channel}
	if k, ok := t.combined[key]; ok {
		return k, nil
	}
	k, err := t.makeCombined(c, rough, metal)
	if err == nil {
		t.combined[key] = k
	}
	return k, err
}

func (t *textures) makeCombined(c *container, rough, metal source) (int, error) {
	img := imageJSON{Name: fmt.Sprintf("metallicRoughness_%d", len(t.combined))}
	write := func(w io.Writer) error {
		out := c.combined(rough, metal)
		if out == nil {
			return errDamaged
		}
		return t.encode(w, out, texture.Role{Use: texture.Data})
	}
	var n int64
	var err error
	if t.e.opts.Textures != nil {
		n, err = t.share(&img, t.pairName(rough, metal), write)
	} else {
		img.MimeType = t.encodedMIME()
		n, err = t.embed(&img, write)
	}
	if errors.Is(err, errDamaged) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	t.e.res.TextureBytes += n
	return t.document(img)
}

// combined returns the pixels, nil when a source cannot be decoded or is too large.
func (c *container) combined(rough, metal source) *image.NRGBA {
	// Two pictures and the result, of whatever sizes: one such at a time.
	free, err := c.tex.memory.Take(c.ctx, largest)
	if err != nil {
		return nil
	}
	defer free()
	g, ok := c.decode(rough)
	if !ok {
		return nil
	}
	b := g
	if metal.texture != rough.texture {
		if b, ok = c.decode(metal); !ok {
			return nil
		}
	}
	w, h := 0, 0
	for _, i := range []image.Image{g, b} {
		if i != nil {
			w, h = max(w, i.Bounds().Dx()), max(h, i.Bounds().Dy())
		}
	}
	if w*h > picture.MaxPixels {
		return nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range out.Pix {
		out.Pix[i] = 0xff // absent textures read as 1
	}
	fill(out, 1, g, rough.channel)
	fill(out, 2, b, metal.channel)
	return out
}

// decode reads the image of a source, nil for none.
func (c *container) decode(s source) (image.Image, bool) {
	if s.texture < 0 {
		return nil, true
	}
	f, err := payloadpath.Open(c.dir, c.r.String(c.r.Textures()[s.record].URIOffset))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if isUtex(f) {
		r, code := openUtex(f)
		if code != "" {
			return nil, false
		}
		i, err := decodeUtex(r)
		if err != nil {
			return nil, false
		}
		return i, true
	}
	if !affordable(f) {
		return nil, false
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, false
	}
	i, _, err := image.Decode(f)
	return i, err == nil
}

// affordable reports whether a picture keeps, by its header, to the limits of
// pictures that are decoded.
func affordable(f io.ReadSeeker) bool {
	cfg, _, err := image.DecodeConfig(f)
	if err != nil || int64(cfg.Width)*int64(cfg.Height) > picture.MaxPixels {
		return false
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false
	}
	header, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return err == nil && picture.Estimate(header, cfg.Width, cfg.Height).Bytes <= picture.MaxBytes
}

// fill copies a channel of src into channel to of dst, taking the nearest
// pixel where the sizes differ.
func fill(dst *image.NRGBA, to int, src image.Image, from uint32) {
	if src == nil {
		return
	}
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	b := src.Bounds()
	for y := range h {
		for x := range w {
			p := color.NRGBAModel.Convert(src.At(b.Min.X+x*b.Dx()/w, b.Min.Y+y*b.Dy()/h)).(color.NRGBA)
			dst.Pix[y*dst.Stride+4*x+to] = [4]uint8{p.R, p.G, p.B, p.A}[from]
		}
	}
}
