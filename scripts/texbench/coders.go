package main

import (
	"image"
	"slices"
	"syscall"
	"time"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/astc"
	"github.com/untoldkit/untold/internal/basisu"
	"github.com/untoldkit/untold/internal/bc"
)

// coder compresses and decodes textures.
type coder struct {
	name  string
	takes func(*sample) bool
	// code returns the texels that come back, normals with X in red and Y in green, and the
	// processor time of compressing.
	code func(*sample) ([]byte, time.Duration, error)
}

// The names of coders that tables look for.
const (
	oursBC, oursBCHigh                  = "bc", "bc high"
	oursUASTC, transcoded               = "ktx2", "ktx2 as BC7"
	bc7eBasic, bc7eSlowest, bc7eOfUASTC = "bc7e basic", "bc7e slowest", "bc7e slowest of ktx2"
	bestBC5                             = "BC5, ends searched"
)

// What --texture-quality is called, and the preset of astcenc beside it.
var (
	quality = [...]string{astc.Fast: "fast", astc.High: "high"}
	preset  = [...]string{astc.Fast: "-fast", astc.High: "-medium"}
)

func oursASTC(f astc.Footprint, q astc.Quality) string { return f.String() + " " + quality[q] }

func astcencOf(f astc.Footprint, q astc.Quality) string {
	return "astcenc " + f.String() + " " + preset[q]
}

func coders(o options, p peers) []coder {
	all := func(*sample) bool { return true }
	tangent := func(s *sample) bool { return s.kind == normals }
	other := func(s *sample) bool { return s.kind != normals }
	notGray := func(s *sample) bool { return s.kind != grays }
	var out []coder
	for _, f := range o.footprints {
		for _, q := range []astc.Quality{astc.High, astc.Fast} { // what takes longest begins
			out = append(out, coder{oursASTC(f, q), notGray, func(s *sample) ([]byte, time.Duration, error) {
				return codeASTC(s, f, q)
			}})
			if p.astcenc != "" {
				out = append(out, coder{astcencOf(f, q), notGray, func(s *sample) ([]byte, time.Duration, error) {
					blocks, took, err := p.astc(s, f, preset[q])
					return decodeASTC(s, f, blocks, took, err)
				}})
			}
		}
	}
	out = append(out,
		coder{oursBC, all, func(s *sample) ([]byte, time.Duration, error) { return codeBC(s, bc.Fast) }},
		coder{oursBCHigh, all, func(s *sample) ([]byte, time.Duration, error) { return codeBC(s, bc.High) }},
		coder{oursUASTC, other, func(s *sample) ([]byte, time.Duration, error) {
			_, pix, took, err := codeUASTC(s)
			return pix, took, err
		}},
		coder{transcoded, other, transcodeUASTC},
		coder{bestBC5, tangent, searchBC5},
	)
	if p.bc7e != "" {
		for _, level := range []string{"slowest", "basic"} {
			out = append(out, coder{"bc7e " + level, other, func(s *sample) ([]byte, time.Duration, error) {
				return p.bc7(s.img, level)
			}})
		}
		out = append(out, coder{bc7eOfUASTC, other, func(s *sample) ([]byte, time.Duration, error) {
			_, pix, _, err := codeUASTC(s)
			if err != nil {
				return nil, 0, err
			}
			return p.bc7(&image.NRGBA{Pix: pix, Stride: s.img.Stride, Rect: s.img.Rect}, "slowest")
		}})
	}
	return slices.DeleteFunc(out, func(c coder) bool {
		return len(o.coders) > 0 && !slices.Contains(o.coders, c.name)
	})
}

func codeASTC(s *sample, f astc.Footprint, q astc.Quality) ([]byte, time.Duration, error) {
	img := s.packed()
	w, h := img.Rect.Dx(), img.Rect.Dy()
	blocks := make([]byte, f.Size(w, h))
	start := processorTime()
	_, err := astc.Encode(blocks, f, astc.Options{SRGB: s.sRGB(), Quality: q}, img.Pix, img.Stride, w, h)
	return decodeASTC(s, f, blocks, processorTime()-start, err)
}

func decodeASTC(s *sample, f astc.Footprint, blocks []byte, took time.Duration, err error) ([]byte, time.Duration, error) {
	if err != nil {
		return nil, 0, err
	}
	pix, err := astc.Decode(f, s.sRGB(), blocks, s.img.Rect.Dx(), s.img.Rect.Dy())
	for i := 0; s.kind == normals && i+3 < len(pix); i += 4 {
		pix[i+1] = pix[i+3]
	}
	return pix, took, err
}

func codeBC(s *sample, q bc.Quality) ([]byte, time.Duration, error) {
	w, h := s.img.Rect.Dx(), s.img.Rect.Dy()
	blocks := make([]byte, bc.Size(w, h))
	how, pixels := bc.Options{Quality: q, AlphaUnused: s.kind != alphas}, utex.BC7
	if s.kind == normals {
		how.Format, pixels = bc.BC5, utex.BC5
	}
	start := processorTime()
	if err := bc.Encode(blocks, s.img, how); err != nil {
		return nil, 0, err
	}
	took := processorTime() - start
	pix, err := utex.Decode(pixels, blocks, w, h)
	return pix, took, err
}

func codeUASTC(s *sample) (blocks, pix []byte, took time.Duration, err error) {
	w, h := s.img.Rect.Dx(), s.img.Rect.Dy()
	start := processorTime()
	blocks = basisu.EncodeUASTC(nil, s.img.Pix, s.img.Stride, w, h)
	took = processorTime() - start
	pix = make([]byte, 4*w*h)
	return blocks, pix, took, basisu.DecodeUASTC(pix, blocks, w, h)
}

// transcodeUASTC counts the time of transcoding alone.
func transcodeUASTC(s *sample) ([]byte, time.Duration, error) {
	blocks, _, _, err := codeUASTC(s)
	if err != nil {
		return nil, 0, err
	}
	out := make([]byte, len(blocks))
	start := processorTime()
	if err := basisu.TranscodeBC7(out, blocks); err != nil {
		return nil, 0, err
	}
	took := processorTime() - start
	pix, err := utex.Decode(utex.BC7, out, s.img.Rect.Dx(), s.img.Rect.Dy())
	return pix, took, err
}

// processorTime is what this program has used, so that others at work do not count.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
