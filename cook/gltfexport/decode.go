package gltfexport

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
)

// isUtex goes by the leading bytes of textures in blocks for the GPU, which glTF lacks:
// they are decoded.
func isUtex(f io.ReaderAt) bool {
	ok, err := utex.Is(f)
	return err == nil && ok
}

// isKTX2 goes by the leading bytes too.
func isKTX2(f io.ReaderAt) bool {
	ok, err := ktx2.Is(f)
	return err == nil && ok
}

// openUtex reads the head of a .utex file; code says why it cannot be used. What
// it returns decodes, unless the file cannot be read any more.
func openUtex(f *os.File) (r *utex.Reader, code string) {
	st, err := f.Stat()
	if err != nil {
		return nil, "texture-damaged"
	}
	if r, err = utex.NewReader(f, st.Size()); err != nil {
		return nil, "texture-damaged"
	}
	if int64(r.Width)*int64(r.Height) > picture.MaxPixels {
		return nil, "texture-size"
	}
	// Some formats have no decoder, and BC7 and BC5 have none on some processors.
	b, _ := r.Format.Block()
	if _, err := utex.Decode(r.Format, make([]byte, b.Bytes), 1, 1); err != nil {
		return nil, "texture-format"
	}
	return r, ""
}

// decodeUtex decodes the first level. The values stay as they are: the slot says
// whether they are sRGB, in glTF as in containers. Normal maps get their third
// channel.
func decodeUtex(r *utex.Reader) (*image.NRGBA, error) {
	l := r.Levels[0]
	data, err := r.ReadLevel(0, nil)
	if err != nil {
		return nil, err
	}
	pix, err := r.Decode(0, data)
	if err != nil {
		return nil, err
	}
	if r.Flags&utex.HasAlpha == 0 { // blocks may be off by one
		for i := 3; i < len(pix); i += 4 {
			pix[i] = 255
		}
	}
	return &image.NRGBA{Pix: pix, Stride: 4 * l.Width, Rect: image.Rect(0, 0, l.Width, l.Height)}, nil
}

// openKTX2 is openUtex for KTX2.
func openKTX2(f *os.File) (k *ktx2.File, code string) {
	st, err := f.Stat()
	if err != nil {
		return nil, "texture-damaged"
	}
	if k, err = ktx2.Open(f, st.Size()); err == nil {
		err = k.Check()
	}
	switch {
	case errors.Is(err, ktx2.ErrUnsupported):
		return nil, "texture-format"
	case err != nil:
		return nil, "texture-damaged"
	case int64(k.Width)*int64(k.Height) > picture.MaxPixels:
		return nil, "texture-size"
	}
	return k, ""
}

// decodedName is the name of the picture that a .utex or KTX2 file becomes.
func decodedName(name string) string {
	return name[:len(name)-len(path.Ext(name))] + ".png"
}

// largest is what decoding the largest texture takes: 4 bytes a texel and, of the
// blocks of the formats that are decoded, 1 at most, in KTX2 compressed besides.
const largest = 6 * picture.MaxPixels

// room waits for the memory that decoding takes. Textures are decoded one by one,
// but what the last ones left is collected before it would be more than largest.
func (t *textures) room(r *utex.Reader) (free func(), err error) {
	l := r.Levels[0]
	return t.memory.Take(t.e.ctx, l.Size+4*int64(l.Width)*int64(l.Height))
}

// writePNG writes an open texture as a picture; one that cannot be read is errDamaged.
func (t *textures) writePNG(w io.Writer, f *opened) error {
	pixels, free, err := t.pixels(f)
	if err != nil {
		return err
	}
	defer free()
	return png.Encode(w, pixels)
}

// writeDecoded writes a .utex or KTX2 file as a picture.
func (t *textures) writeDecoded(w io.Writer, f *os.File) error {
	o := opened{File: f}
	var code string
	if isKTX2(f) {
		o.ktx2, code = openKTX2(f)
	} else {
		o.utex, code = openUtex(f)
	}
	if code != "" {
		return errChanged
	}
	pixels, free, err := t.pixels(&o)
	if err != nil {
		return err
	}
	defer free()
	c := counter{w: w}
	err = png.Encode(&c, pixels)
	t.e.res.TextureBytes += c.n
	return err
}

// errChanged is of files that are not what they were when they were planned.
var errChanged = errors.New("the file changed during the export; export again")

// counter counts what goes through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// embed puts what write writes into the buffer and returns its bytes.
func (t *textures) embed(img *imageJSON, write func(io.Writer) error) (int64, error) {
	at, err := t.e.doc.Align()
	if err != nil {
		return 0, located(err)
	}
	c := counter{w: t.e.doc}
	if err := write(&c); err != nil {
		return 0, fmt.Errorf("gltfexport: texture %q, after %d bytes: %w", img.Name, c.n, err)
	}
	v, err := t.e.doc.add(glb.BufferViews, viewJSON{ByteOffset: at, ByteLength: c.n})
	img.BufferView = &v
	return c.n, err
}
