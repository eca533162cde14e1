package utex

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/untoldkit/untold/internal/astc"
)

// Decode turns a level of w x h texels of ASTC, BC7 or BC5 into RGBA, 8 bits
// each, rows from the top: for GPUs that do not read the format, for pictures and
// for tests. What is sRGB stays sRGB. Of BC5 the blue channel is rebuilt as that
// of a normal map; for ASTC UnpackNormals does it. Blocks of ASTC with high
// dynamic range, and invalid ones, become magenta. Other formats give an error,
// and on processors of 32 bits BC7 and BC5 do.
func Decode(f PixelFormat, data []byte, w, h int) ([]byte, error) {
	if w <= 0 || h <= 0 || w > MaxEdge || h > MaxEdge {
		return nil, fmt.Errorf("utex: %d x %d texels cannot be decoded", w, h)
	}
	if f != BC5 && f != BC7 && f != BC7SRGB && !f.ASTC() {
		return nil, fmt.Errorf("utex: %v cannot be decoded", f)
	}
	b, _ := f.Block()
	if want := b.Size(w, h); int64(len(data)) != want {
		return nil, fmt.Errorf("utex: %d bytes, %d x %d texels of %v have %d", len(data), w, h, f, want)
	}
	var out []byte
	var err error
	if f.ASTC() {
		out, err = astc.Decode(astc.Footprint{Width: b.Width, Height: b.Height}, f.SRGB(), data, w, h)
	} else {
		out, err = decodeBlocks(f, data, w, h)
	}
	if err != nil {
		return nil, fmt.Errorf("utex: %w", err)
	}
	if f == BC5 {
		for i := 0; i < len(out); i += 4 {
			out[i+2] = normalZ(out[i], out[i+1])
		}
	}
	return out, nil
}

// Decode turns a level of the texture, as ReadLevel returns it, into RGBA as the
// function Decode does; packed normals become X, Y and Z.
func (i *Info) Decode(level int, data []byte) ([]byte, error) {
	l := i.Levels[level]
	pix, err := Decode(i.Format, data, l.Width, l.Height)
	if err == nil && i.PacksNormals() {
		UnpackNormals(pix)
	}
	return pix, err
}

// PacksNormals reports whether Y is in alpha, as the flag NormalPacked says; BC5 has
// none, and Y in green.
func (i *Info) PacksNormals() bool { return i.Flags&NormalPacked != 0 && i.Format != BC5 }

// Is reports whether a file begins like a texture of this format. The error is that of
// reading it; a file that is too short is none.
func Is(src io.ReaderAt) (bool, error) {
	var head [len(Magic)]byte
	n, err := src.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(head[:n]) == Magic, nil
}

// UnpackNormals turns texels of a normal map with X in red and Y in alpha
// (NormalPacked), decoded to RGBA, into X, Y and Z in red, green and blue; alpha
// becomes 255.
func UnpackNormals(pix []byte) {
	for i := 0; i+3 < len(pix); i += 4 {
		p := pix[i:][:4]
		p[1] = p[3]
		p[2], p[3] = normalZ(p[0], p[1]), 255
	}
}

// normalZ rebuilds the third component of a direction, each stored as
// (v + 1) * 127.5.
func normalZ(x, y byte) byte {
	fx, fy := float64(x)/127.5-1, float64(y)/127.5-1
	z := math.Sqrt(max(0, 1-float64(fx*fx)-float64(fy*fy)))
	return byte(float64((z+1)*127.5) + 0.5)
}
