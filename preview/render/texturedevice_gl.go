//go:build cgo && !nopreview

package render

import (
	"bytes"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// pieceBytes is how much is uploaded between two looks at the clock.
const pieceBytes = 256 << 10

// textureDevice keeps textures on the GPU: it is the texture.Device, Pacer and
// Trimmer of the renderer's texture.Streamer. A texture is drawn as it was until
// all levels of the next size are there.
type textureDevice struct {
	immutable  bool
	copies     bool // between textures, ARB_copy_image
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
	name          uint32 // of OpenGL; 0 for none
	enc           texfile.Encoding
	format        uint32
	packed        bool // a normal map whose Y is in alpha
	width, height int
	levels        int
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
func (d *textureDevice) name(id texture.ID) uint32 {
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
	t.delete()
}

// cancel ends an upload that is under way.
func (d *textureDevice) cancel(t *gpuTexture) {
	if u := t.next; u != nil {
		u.gone, u.image, t.next = true, nil, nil
		u.delete()
	}
}

func (s *storage) delete() {
	if s.name != 0 {
		gl.DeleteTextures(1, &s.name)
	}
	*s = storage{}
}

// Trim is the texture.Trimmer: the levels that remain are copied on the GPU.
func (d *textureDevice) Trim(id texture.ID, levels int) bool {
	t := &d.table[id-1]
	if !d.copies || t.name == 0 || t.next != nil || levels < 1 || levels >= t.levels {
		return false
	}
	small := t.storage
	small.width, small.height = mipSize(t.width, t.height, levels)
	small.levels -= levels
	d.create(&small)
	for i := range small.levels {
		w, h := mipSize(small.width, small.height, i)
		gl.CopyImageSubData(t.name, gl.TEXTURE_2D, int32(i+levels), 0, 0, 0,
			small.name, gl.TEXTURE_2D, int32(i), 0, 0, 0, int32(w), int32(h), 1)
	}
	t.delete()
	t.storage = small
	return true
}

// mipSize returns the size of a level.
func mipSize(w, h, level int) (int, int) { return max(1, w>>level), max(1, h>>level) }

// create makes a texture object with all its levels.
func (d *textureDevice) create(s *storage) {
	gl.GenTextures(1, &s.name)
	gl.ActiveTexture(gl.TEXTURE0 + unitScratch)
	gl.BindTexture(gl.TEXTURE_2D, s.name)
	// First how many levels there are and how they are read: drivers keep a
	// texture whose levels do not fit that in another way.
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_BASE_LEVEL, 0)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, int32(s.levels-1))
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR)
	gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
	if s.packed {
		gl.TexParameteri(gl.TEXTURE_2D, gl.TEXTURE_SWIZZLE_G, gl.ALPHA)
	}
	if d.anisotropy > 1 {
		gl.TexParameterf(gl.TEXTURE_2D, textureMaxAnisotropy, float32(d.anisotropy))
	}
	if d.immutable {
		gl.TexStorage2D(gl.TEXTURE_2D, int32(s.levels), s.format, int32(s.width), int32(s.height))
		return
	}
	for i := range s.levels {
		w, h := mipSize(s.width, s.height, i)
		if s.enc == texfile.RGBA8 {
			gl.TexImage2D(gl.TEXTURE_2D, int32(i), int32(s.format), int32(w), int32(h), 0, gl.RGBA, gl.UNSIGNED_BYTE, nil)
		} else {
			gl.CompressedTexImage2D(gl.TEXTURE_2D, int32(i), s.format, int32(w), int32(h), 0, int32(s.enc.RowBytes(w)*s.enc.Rows(h)), nil)
		}
	}
}

// neutral makes the texture that stands in for those that have not come. In all
// that a driver may compile programs for it is like them.
func (d *textureDevice) neutral(slot int) uint32 {
	texel, use := [4]uint8{255, 255, 255, 255}, texfile.Data
	switch slot {
	case slotBase:
		use = texfile.Color
	case slotNormal:
		texel = [4]uint8{128, 128, 255, 255}
	case slotEmissive:
		texel, use = [4]uint8{0, 0, 0, 255}, texfile.Color
	}
	const edge, levels = 4, 3
	s := storage{enc: texfile.RGBA8, width: edge, height: edge, levels: levels}
	s.format = internalFormat(&texfile.Image{Encoding: s.enc, Use: use})
	d.create(&s)
	pix := bytes.Repeat(texel[:], edge*edge)
	for i := range levels {
		w, h := mipSize(edge, edge, i)
		gl.TexSubImage2D(gl.TEXTURE_2D, int32(i), 0, 0, int32(w), int32(h), gl.RGBA, gl.UNSIGNED_BYTE, unsafe.Pointer(&pix[0]))
	}
	return s.name
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
		u.storage = storage{enc: u.image.Encoding, format: internalFormat(u.image), packed: u.image.NormalPacked, width: l.Width, height: l.Height, levels: len(u.image.Levels)}
		d.create(&u.storage)
	}
	gl.ActiveTexture(gl.TEXTURE0 + unitScratch)
	gl.BindTexture(gl.TEXTURE_2D, u.name)
	gl.PixelStorei(gl.UNPACK_ALIGNMENT, 4)
	n := int64(0)
	for n < pieceBytes && u.level >= 0 {
		n += u.step(int(pieceBytes - n))
	}
	if u.level < 0 {
		d.queue = d.queue[1:]
		t := &d.table[u.id-1]
		t.delete()
		t.storage, t.next = u.storage, nil
		u.image = nil
	}
	return n
}

// step uploads rows of the next level. The driver takes them from the program's
// memory: no frame draws with the texture yet that would have to be waited for, and
// from a buffer NVIDIA's fills levels slowly as long as others are missing.
func (u *upload) step(limit int) int64 {
	l := &u.image.Levels[u.level]
	rowBytes, all := u.enc.RowBytes(l.Width), u.enc.Rows(l.Height)
	rows := min(max(1, limit/rowBytes), all-u.row)
	data := l.Pix[rowBytes*u.row:][:rowBytes*rows]
	pix := unsafe.Pointer(&data[0])
	if u.enc == texfile.RGBA8 {
		gl.TexSubImage2D(gl.TEXTURE_2D, int32(u.level), 0, int32(u.row), int32(l.Width), int32(rows), gl.RGBA, gl.UNSIGNED_BYTE, pix)
	} else {
		_, lines := u.enc.Block()
		from := lines * u.row
		height := min(lines*rows, l.Height-from)
		gl.CompressedTexSubImage2D(gl.TEXTURE_2D, int32(u.level), 0, int32(from), int32(l.Width), int32(height), u.format, int32(rows*rowBytes), pix)
	}
	if u.row += rows; u.row == all {
		u.row = 0
		u.level--
	}
	return int64(rowBytes * rows)
}

// internalFormat returns how an image is stored on the GPU.
func internalFormat(img *texfile.Image) uint32 {
	srgb := img.Use.SRGB()
	switch {
	case img.Encoding.ASTC() && srgb:
		return compressedSRGBASTC4x4 + uint32(img.Encoding-texfile.ASTC4x4)
	case img.Encoding.ASTC():
		return compressedRGBAASTC4x4 + uint32(img.Encoding-texfile.ASTC4x4)
	case img.Encoding == texfile.BC5:
		return gl.COMPRESSED_RG_RGTC2
	case img.Encoding == texfile.BC7 && srgb:
		return compressedSRGBAlphaBPTC
	case img.Encoding == texfile.BC7:
		return compressedRGBABPTC
	case srgb:
		return gl.SRGB8_ALPHA8
	}
	return gl.RGBA8
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
