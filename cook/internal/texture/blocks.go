package texture

import (
	"fmt"
	"image"
	"io"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/astc"
	"github.com/untoldkit/untold/internal/bc"
	"github.com/untoldkit/untold/internal/ktx2"
)

// ASTC says how ModeASTC compresses, and how much ModeBC tries. The zero value is the
// default.
type ASTC struct {
	// Block is the size of blocks in texels, one of ASTCBlocks; 0 x 0 chooses by
	// role, as the reference engine's baker does: 6 x 6 for data, else 4 x 4.
	Block [2]int
	// High takes several times as long for a smaller error, with ModeBC, too.
	High bool
}

// ASTCBlocks are the sizes of blocks that container records have names for.
var ASTCBlocks = [][2]int{{4, 4}, {5, 5}, {6, 6}, {8, 8}}

// astcRecords are the record formats of ASTCBlocks.
var astcRecords = [...]records.TextureFormat{records.TextureASTC4x4, records.TextureASTC5x5, records.TextureASTC6x6, records.TextureASTC8x8}

// coding is how a role is compressed.
type coding struct {
	pixels utex.PixelFormat
	record records.TextureFormat
	high   bool
	enough int32 // bc.Options.Enough
}

// packedEnough is what blocks of packed pictures may be off: a step of 255 in every texel and
// channel, which takes half the time for 0.03 dB.
const packedEnough = 16 * 3

// coding returns how a mode compresses a role; modes that do not get nothing.
func (m Mode) coding(r Role, a ASTC) coding {
	switch {
	case m == ModeASTC:
		return a.coding(r)
	case m != ModeBC:
		return coding{}
	case r.Use == Normal:
		return coding{pixels: utex.BC5, record: records.TextureBC5, high: a.High}
	case r.Use == Color:
		return coding{pixels: utex.BC7SRGB, record: records.TextureBC7, high: a.High}
	}
	return coding{pixels: utex.BC7, record: records.TextureBC7, high: a.High}
}

func (a ASTC) coding(r Role) coding {
	block := a.Block
	if block == [2]int{} {
		block = [2]int{4, 4}
		if r.Use == Data {
			block = [2]int{6, 6}
		}
	}
	c := coding{high: a.High}
	c.pixels, _ = utex.ASTCFormat(block[0], block[1], r.Use == Color)
	for i, b := range ASTCBlocks {
		if b == block {
			c.record = astcRecords[i]
		}
	}
	return c
}

// packsNormals reports whether a normal map's Y goes to alpha.
func (c coding) packsNormals(r Role) bool { return r.Use == Normal && c.pixels.ASTC() }

// writeBlocks compresses an image with its mip chain.
func writeBlocks(w io.Writer, c *workers, base *image.NRGBA, r Role, how coding) (*utex.Info, error) {
	base = revealed(base, r)
	var flags utex.Flags
	if r.Alpha != AlphaIgnored && !base.Opaque() {
		flags |= utex.HasAlpha
	}
	if how.packsNormals(r) {
		flags |= utex.NormalPacked
	}
	out, err := utex.NewWriter(w, base.Rect.Dx(), base.Rect.Dy(), how.pixels, flags)
	if err != nil {
		return nil, err
	}
	err = levels(c, base, r, func(img *image.NRGBA) error {
		data, err := compress(c, img, r, how)
		if err != nil {
			return err
		}
		return out.WriteLevel(data)
	})
	if err != nil {
		return nil, err
	}
	return out.Info(), out.Close()
}

// WritePacked writes a picture for a role as a KTX2 file of BC7, or BC5 of normal maps, each level
// under Zstandard: about what ModeBC makes of it in half the bytes or less, for readers that
// inflate. Unless ASTC.High is set, blocks repeat more of each other than they would, so that
// they compress to fewer bytes. At most so many goroutines work, the calling one among them, and
// the bytes do not depend on it. The name that it returns is stem with the extension.
func WritePacked(w io.Writer, stem string, img *image.NRGBA, r Role, a ASTC, jobs int) (Cooked, error) {
	c := newWorkers(jobs)
	c.join()
	how := ModeBC.coding(r, a)
	base := revealed(scaled(c, img, img.Rect.Dx(), img.Rect.Dy(), r), r)
	if !how.high && (r.Alpha != AlphaMasked || base.Opaque()) { // by a step a texel is cut out
		how.enough = packedEnough
	}
	content := ktx2.Content{
		Format: ktx2.BC7, Width: base.Rect.Dx(), Height: base.Rect.Dy(), Transfer: ktx2.TransferLinear, Scheme: ktx2.Zstandard, Quick: true,
		Metadata: map[string]string{ktx2.KeyOrientation: "rd", ktx2.KeyWriter: "untold"},
	}
	switch r.Use {
	case Color:
		content.Format, content.Transfer = ktx2.BC7SRGB, ktx2.TransferSRGB
	case Normal:
		content.Format = ktx2.BC5
	}
	if r.Use != Normal && (r.Alpha == AlphaIgnored || base.Opaque()) {
		content.Metadata[ktx2.KeySwizzle] = ktx2.Opaque // blocks may be off by one
	}
	to := Cooked{File: stem + ktx2Ext, Width: content.Width, Height: content.Height, Format: records.TextureUnknown}
	err := levels(c, base, r, func(img *image.NRGBA) error {
		data, err := compress(c, img, r, how)
		if err == nil && !how.high {
			err = bc.Reduce(data, img, how.bc(r), bc.Reduction{Bit: packedBit(len(content.Levels)), Cutoff: cutoffOf(r)})
		}
		content.Levels = append(content.Levels, data)
		to.GPU += int64(len(data))
		return err
	})
	if err != nil {
		return to, err
	}
	to.Levels = len(content.Levels)
	return to, ktx2.Write(w, content)
}

// packedBit returns what a bit of a level of WritePacked's files is worth, in sixteenths of a
// squared error. On a city's atlases three fifths of it save 20 % of the bytes for 0.2 to 0.5 dB,
// all of it 26 % for 0.4 to 0.9 dB, and more costs over 1 dB. The smaller levels are
// a quarter of the bytes, and each texel of theirs is more of what is seen from afar: there as
// much raised FLIP by up to 0.0025, a quarter of it by 0.0004.
func packedBit(level int) int {
	if level > 0 {
		return 20
	}
	return 80
}

// cutoffOf returns the alpha from which on texels of a role are drawn; 0 where all are.
func cutoffOf(r Role) uint8 {
	if r.Alpha == AlphaMasked {
		for v := range part {
			if part[v] >= r.Cutoff {
				return uint8(v)
			}
		}
	}
	return 0
}

// compress encodes one level. Blocks that reach beyond the border repeat its last
// pixels.
func compress(c *workers, img *image.NRGBA, r Role, how coding) ([]byte, error) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	b, _ := how.pixels.Block()
	buf := make([]byte, b.Size(w, h))
	perLine := int(b.Size(w, b.Height))
	lines := bandLines / b.Height * b.Height
	errs := make([]error, (h+lines-1)/lines)
	c.divide(h, lines, func(lo, hi int) {
		band := &image.NRGBA{Pix: img.Pix[4*w*lo : 4*w*hi], Stride: 4 * w, Rect: image.Rect(0, 0, w, hi-lo)}
		from, to := lo/b.Height*perLine, (hi+b.Height-1)/b.Height*perLine
		out := buf[from:to:to]
		if how.pixels.ASTC() {
			errs[lo/lines] = encodeASTC(out, band, r, how)
		} else {
			errs[lo/lines] = encodeBC(out, band, r, how)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("texture: %d x %d texels as %v: %w", w, h, how.pixels, err)
		}
	}
	return buf, nil
}

// encodeBC fills out with the blocks of img.
func encodeBC(out []byte, img *image.NRGBA, r Role, how coding) error {
	return bc.Encode(out, img, how.bc(r))
}

// bc returns what the encoder of BC7 and BC5 may do.
func (c coding) bc(r Role) bc.Options {
	o := bc.Options{Format: bc.BC7, AlphaUnused: r.Alpha == AlphaIgnored, Enough: c.enough}
	if c.pixels == utex.BC5 {
		o.Format = bc.BC5
	}
	if c.high {
		o.Quality = bc.High
	}
	return o
}

// encodeASTC fills out with the blocks of img.
func encodeASTC(out []byte, img *image.NRGBA, r Role, how coding) error {
	b, _ := how.pixels.Block()
	o := astc.Options{SRGB: how.pixels.SRGB()}
	if how.high {
		o.Quality = astc.High
	}
	pix := img.Pix
	if how.packsNormals(r) {
		pix = make([]byte, len(img.Pix))
		for i := 0; i+3 < len(pix); i += 4 {
			x, y := img.Pix[i], img.Pix[i+1]
			pix[i], pix[i+1], pix[i+2], pix[i+3] = x, x, x, y
		}
	}
	_, err := astc.Encode(out, astc.Footprint{Width: b.Width, Height: b.Height}, o, pix, img.Stride, img.Rect.Dx(), img.Rect.Dy())
	return err
}
