package render

import (
	"bytes"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// pieceBytes is how much is uploaded between two looks at the clock.
const pieceBytes = 256 << 10

// textureDevice keeps textures on the GPU: it is the texture.Device, Pacer and
// Trimmer of the renderer's texture.Streamer. A texture is drawn as it was until
// all levels of the next size are there.
type textureDevice struct {
	gpu        gpu.Device
	arrays     textureArrays
	anisotropy int
	table      []gpuTexture // ID - 1 is the index
	queue      []*upload    // first in, first out
	sent       int64        // bytes of all images
}

var (
	_ texture.Device  = (*textureDevice)(nil)
	_ texture.Pacer   = (*textureDevice)(nil)
	_ texture.Trimmer = (*textureDevice)(nil)
)

// gpuTexture is what is drawn, and what will take its place.
type gpuTexture struct {
	at   *layer // nil: nothing yet
	next *upload
}

// upload is a texture on its way to the GPU.
type upload struct {
	at    *layer // nil: not begun
	id    texture.ID
	image *texfile.Image
	level int // to upload next, from the smallest
	row   int // rows of it that are there
	gone  bool
}

// at returns the layer to draw with, none while there is none.
func (d *textureDevice) at(id texture.ID) gpu.Layer {
	l := d.layerOf(id)
	if l == nil {
		return gpu.Layer{}
	}
	return l.at()
}

// layerOf returns where a texture lies, nil while there is nothing.
func (d *textureDevice) layerOf(id texture.ID) *layer {
	if id == 0 || int(id) > len(d.table) {
		return nil
	}
	return d.table[id-1].at
}

// Upload is the texture.Device: Pump does the work.
func (d *textureDevice) Upload(id texture.ID, img *texfile.Image) error {
	for int(id) > len(d.table) {
		d.table = append(d.table, gpuTexture{})
	}
	t := &d.table[id-1]
	d.cancel(t)
	t.next = &upload{id: id, image: img, level: len(img.Levels) - 1}
	d.queue = append(d.queue, t.next)
	d.sent += img.Bytes()
	return nil
}

// Uploaded is the texture.Pacer.
func (d *textureDevice) Uploaded(id texture.ID) bool { return d.table[id-1].next == nil }

// Release is the texture.Device.
func (d *textureDevice) Release(id texture.ID) {
	t := &d.table[id-1]
	d.cancel(t)
	d.free(&t.at)
}

// cancel ends an upload that is under way.
func (d *textureDevice) cancel(t *gpuTexture) {
	if u := t.next; u != nil {
		u.gone, u.image, t.next = true, nil, nil
		d.free(&u.at)
	}
}

func (d *textureDevice) free(l **layer) {
	if *l != nil {
		d.arrays.free(*l)
		*l = nil
	}
}

// Trim is the texture.Trimmer: the levels that remain are copied on the GPU.
func (d *textureDevice) Trim(id texture.ID, levels int) bool {
	t := &d.table[id-1]
	if !d.arrays.copies || t.at == nil || t.next != nil || levels < 1 || levels >= t.at.array.class.Levels {
		return false
	}
	whole := t.at.array.class.TextureInfo
	small := whole
	small.Width, small.Height = whole.Mip(levels)
	small.Levels -= levels
	to := d.arrays.alloc(&small)
	d.gpu.CopyTexture(to.at(), t.at.at(), &whole, levels)
	d.free(&t.at)
	t.at = to
	return true
}

// neutral makes the texture that stands in for those that are missing. In all that a
// driver may compile programs for it is like them.
func (d *textureDevice) neutral(slot int) gpu.Texture {
	switch slot {
	case slotNormal:
		return d.plain(slot, [4]uint8{128, 128, 255, 255})
	case slotEmissive:
		return d.plain(slot, [4]uint8{0, 0, 0, 255})
	}
	return d.plain(slot, [4]uint8{255, 255, 255, 255})
}

// expected makes the texture that stands in for those on their way: white surfaces would
// be too bright a picture, and metal too dark a one. 0: neutral will do.
func (d *textureDevice) expected(slot int) gpu.Texture {
	switch slot {
	case slotBase:
		return d.plain(slot, [4]uint8{128, 128, 128, 255})
	case slotMetallic:
		return d.plain(slot, [4]uint8{})
	}
	return 0
}

// plain makes a texture of one colour for a slot.
func (d *textureDevice) plain(slot int, texel [4]uint8) gpu.Texture {
	use := texfile.Data
	if slot == slotBase || slot == slotEmissive {
		use = texfile.Color
	}
	const edge, levels = 4, 3
	i := gpu.TextureInfo{Encoding: texfile.RGBA8, SRGB: use.SRGB(), Width: edge, Height: edge, Levels: levels, Anisotropy: d.anisotropy}
	t := d.gpu.NewTexture(&i, 1)
	pix := bytes.Repeat(texel[:], edge*edge)
	for level := range levels {
		w, h := i.Mip(level)
		d.gpu.WriteRows(t, &i, 0, level, 0, w, h, pix[:4*w*h])
	}
	return t
}

// pump does one piece of work and returns its bytes; 0 when there is none.
func (d *textureDevice) pump() int64 {
	for len(d.queue) > 0 && d.queue[0].gone {
		d.queue = d.queue[1:]
	}
	if len(d.queue) == 0 {
		d.queue = nil
		return 0
	}
	u := d.queue[0]
	if u.at == nil {
		l := &u.image.Levels[0]
		u.at = d.arrays.alloc(&gpu.TextureInfo{
			Encoding: u.image.Encoding, SRGB: u.image.Use.SRGB(), GreenInAlpha: u.image.NormalPacked,
			Width: l.Width, Height: l.Height, Levels: len(u.image.Levels), Anisotropy: d.anisotropy,
		})
	}
	n := int64(0)
	for n < pieceBytes && u.level >= 0 {
		n += u.step(d.gpu, int(pieceBytes-n))
	}
	if u.level < 0 {
		d.queue = d.queue[1:]
		t := &d.table[u.id-1]
		d.free(&t.at)
		t.at, t.next = u.at, nil
		u.image = nil
		d.arrays.moves++
	}
	return n
}

// step uploads rows of the next level.
func (u *upload) step(d gpu.Device, limit int) int64 {
	l, i := &u.image.Levels[u.level], &u.at.array.class.TextureInfo
	rowBytes, all := i.Encoding.RowBytes(l.Width), i.Encoding.Rows(l.Height)
	rows := min(max(1, limit/rowBytes), all-u.row)
	_, lines := i.Encoding.Block()
	from := lines * u.row
	at := u.at.at()
	d.WriteRows(at.Texture, i, at.Number, u.level, from, l.Width, min(lines*rows, l.Height-from), l.Pix[rowBytes*u.row:][:rowBytes*rows])
	if u.row += rows; u.row == all {
		u.row = 0
		u.level--
	}
	return int64(rowBytes * rows)
}

// busy reports whether uploads wait.
func (d *textureDevice) busy() bool {
	for _, u := range d.queue {
		if !u.gone {
			return true
		}
	}
	return false
}
