package decoder

import (
	"math"

	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// writeLoad writes a request for a tile; its Context, its Done and what a Fetcher
// brought stay where they are.
func writeLoad(req *payload.Request) *writer {
	w := newWriter(kindLoad, req.Token)
	w.u32(uint32(req.Key.Scene))
	w.u32(uint32(req.Key.Tile))
	w.u8(uint8(req.Key.Rep))
	w.u32(uint32(req.Key.Part))
	w.text(req.TileID)
	w.u64(uint64(max(0, req.Attempt)))
	w.text(req.Dir)
	w.text(req.Path)
	w.text(req.Local.File)
	w.text(req.Local.Dir)
	w.u64(uint64(max(0, req.Size)))
	w.text(req.SHA256)
	var version [32]byte
	if req.Kept != nil {
		version = req.Kept.Version
	}
	w.b = append(w.b, version[:]...)
	return w
}

// readLoad is the inverse. Of what is kept it knows the version, 0 for nothing.
func readLoad(r *reader, token uint64) (req payload.Request, kept [32]byte, err error) {
	req.Token = token
	req.Key.Scene = payload.SceneID(r.u32())
	req.Key.Tile = int32(r.u32())
	req.Key.Rep = payload.Rep(r.u8())
	req.Key.Part = int32(r.u32())
	req.TileID = r.text()
	req.Attempt = r.length(math.MaxInt32)
	req.Dir, req.Path = r.text(), r.text()
	req.Local.File, req.Local.Dir = r.text(), r.text()
	req.Size = r.size()
	req.SHA256 = r.text()
	copy(kept[:], r.take(uint64(len(kept))))
	return req, kept, r.end()
}

// textureRequest asks for a texture.
type textureRequest struct {
	dir, uri string
	options  texfile.Options
}

// Bits of a texture request.
const (
	bitBlocks = 1 << iota
	bitASTC
	bitWebGL
)

func bit(set bool, bit uint8) uint8 {
	if set {
		return bit
	}
	return 0
}

func writeTexture(token uint64, q *textureRequest) *writer {
	w := newWriter(kindTexture, token)
	w.text(q.dir)
	w.text(q.uri)
	o := &q.options
	w.u8(uint8(o.Use))
	w.f32(o.Cutoff)
	w.u64(uint64(max(0, o.MaxSize)))
	w.u64(uint64(max(0, o.MaxPixels)))
	w.u8(bit(o.Blocks, bitBlocks) | bit(o.ASTC, bitASTC) | bit(o.WebGL, bitWebGL))
	return w
}

func readTexture(r *reader) (q textureRequest, err error) {
	q.dir, q.uri = r.text(), r.text()
	o := &q.options
	o.Use = texfile.Use(r.u8())
	o.Cutoff = r.f32()
	o.MaxSize, o.MaxPixels = r.length(math.MaxInt32), r.length(math.MaxInt32)
	bits := r.u8()
	o.Blocks, o.ASTC, o.WebGL = bits&bitBlocks != 0, bits&bitASTC != 0, bits&bitWebGL != 0
	if o.Use > texfile.OpaqueColor || bits >= bitWebGL<<1 {
		r.fail("use %d, bits %x", o.Use, bits)
	}
	return q, r.end()
}
