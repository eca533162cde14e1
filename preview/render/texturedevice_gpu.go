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
	copies     bool // between textures
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

// storage is a texture object.
type storage struct {
	name gpu.Texture // 0 for none
	gpu.TextureInfo
}

// gpuTexture is what is drawn, and what will take its place.
type gpuTexture struct {
	storage
	next *upload
}

// upload is a texture on its way to the GPU.
type upload struct {
	storage
	id    texture.ID
	image *texfile.Image
	level int // to upload next, from the smallest
	row   int // rows of it that are there
	gone  bool
}

// name returns the object to draw with, 0 while there is none.
func (d *textureDevice) name(id texture.ID) gpu.Texture {
	if id == 0 || int(id) > len(d.table) {
		return 0
	}
	return d.table[id-1].name
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
	d.delete(&t.storage)
}

// cancel ends an upload that is under way.
func (d *textureDevice) cancel(t *gpuTexture) {
	if u := t.next; u != nil {
		u.gone, u.image, t.next = true, nil, nil
		d.delete(&u.storage)
	}
}

func (d *textureDevice) delete(s *storage) {
	if s.name != 0 {
		d.gpu.DeleteTexture(s.name)
	}
	*s = storage{}
}

// Trim is the texture.Trimmer: the levels that remain are copied on the GPU.
func (d *textureDevice) Trim(id texture.ID, levels int) bool {
	t := &d.table[id-1]
	if !d.copies || t.name == 0 || t.next != nil || levels < 1 || levels >= t.Levels {
		return false
	}
	small := t.storage
	small.Width, small.Height = t.Mip(levels)
	small.Levels -= levels
	small.name = d.gpu.NewTexture(&small.TextureInfo)
	d.gpu.CopyTexture(small.name, t.name, &t.TextureInfo, levels)
	d.delete(&t.storage)
	t.storage = small
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
	t := d.gpu.NewTexture(&i)
	pix := bytes.Repeat(texel[:], edge*edge)
	for level := range levels {
		w, h := i.Mip(level)
		d.gpu.WriteRows(t, &i, level, 0, w, h, pix[:4*w*h])
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
	if u.name == 0 {
		l := &u.image.Levels[0]
		u.TextureInfo = gpu.TextureInfo{
			Encoding: u.image.Encoding, SRGB: u.image.Use.SRGB(), GreenInAlpha: u.image.NormalPacked,
			Width: l.Width, Height: l.Height, Levels: len(u.image.Levels), Anisotropy: d.anisotropy,
		}
		u.name = d.gpu.NewTexture(&u.TextureInfo)
	}
	n := int64(0)
	for n < pieceBytes && u.level >= 0 {
		n += u.step(d.gpu, int(pieceBytes-n))
	}
	if u.level < 0 {
		d.queue = d.queue[1:]
		t := &d.table[u.id-1]
		d.delete(&t.storage)
		t.storage, t.next = u.storage, nil
		u.image = nil
	}
	return n
}

// step uploads rows of the next level.
func (u *upload) step(d gpu.Device, limit int) int64 {
	l := &u.image.Levels[u.level]
	rowBytes, all := u.Encoding.RowBytes(l.Width), u.Encoding.Rows(l.Height)
	rows := min(max(1, limit/rowBytes), all-u.row)
	_, lines := u.Encoding.Block()
	from := lines * u.row
	d.WriteRows(u.name, &u.TextureInfo, u.level, from, l.Width, min(lines*rows, l.Height-from), l.Pix[rowBytes*u.row:][:rowBytes*rows])
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
