package main

import (
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // the textures
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// measured are 30 textures: colours, normal maps, and data.
var measured = []string{
	"models/FlightHelmet/FlightHelmet_Materials_*Mat_*.png",
	"models/dutch_ship_medium_1k/textures/*.jpg",
	"models/plastic_monobloc_chair_01_1k/textures/*.jpg",
	"models/PalmTree/StylizedWater.png",
	"models/AnisotropyBarnLamp/AnisotropyBarnLamp_basecolor.jpeg",
	"kits/kaykit-city/citybits_texture.png",
	"kits/kenney-city/Textures/colormap.png",
}

// kind is what a texture is.
type kind string

// The kinds. Gray ones are the red channel of others.
const (
	colors  kind = "colour"
	alphas  kind = "colour, alpha"
	normals kind = "normal"
	data    kind = "data"
	grays   kind = "gray"
)

// sample is a texture to compress.
type sample struct {
	name string
	kind kind
	img  *image.NRGBA
}

// sRGB reports whether its values are colours.
func (s *sample) sRGB() bool { return s.kind == colors || s.kind == alphas }

// samples loads the textures, and makes gray ones of those that are colours or data.
func samples(o options) ([]*sample, error) {
	var out, gray []*sample
	for _, pattern := range measured {
		paths, err := filepath.Glob(filepath.Join(o.assets, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if !strings.Contains(filepath.Base(path), o.only) {
				continue
			}
			s, err := load(path, o.crop)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if s.img.Rect.Dx() < 64 {
				continue
			}
			out = append(out, s)
			if s.kind != normals {
				gray = append(gray, s.gray())
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no textures below %s; -assets names the folder of the shared assets", o.assets)
	}
	return append(out, gray...), nil
}

func load(path string, crop int) (*sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	s := &sample{name: strings.TrimPrefix(name, "FlightHelmet_Materials_"), img: image.NewNRGBA(image.Rectangle{Max: src.Bounds().Size()})}
	if n, ok := src.(*image.NRGBA); ok {
		s.img = n // as it is: to draw it rounds what is translucent
	} else {
		draw.Draw(s.img, s.img.Rect, src, src.Bounds().Min, draw.Src)
	}
	switch low := strings.ToLower(s.name); {
	case strings.Contains(low, "_nor"):
		s.kind = normals
	case strings.Contains(low, "_arm"), strings.Contains(low, "roughmetal"):
		s.kind = data
	case s.img.Opaque():
		s.kind = colors
	default:
		s.kind = alphas
	}
	if crop > 0 {
		s = s.middle(crop)
	}
	return s, nil
}

// middle returns the texels in the middle, n along each edge at most.
func (s *sample) middle(n int) *sample {
	size := s.img.Rect.Size()
	m := &sample{s.name, s.kind, image.NewNRGBA(image.Rect(0, 0, min(n, size.X), min(n, size.Y)))}
	at := size.Sub(m.img.Rect.Max).Div(2)
	for y := range m.img.Rect.Dy() {
		copy(m.img.Pix[y*m.img.Stride:][:m.img.Stride], s.img.Pix[s.img.PixOffset(at.X, at.Y+y):])
	}
	return m
}

// gray returns the red channel as a texture of its own.
func (s *sample) gray() *sample {
	g := &sample{s.name, grays, image.NewNRGBA(s.img.Rect)}
	for i := 0; i < len(g.img.Pix); i += 4 {
		v := s.img.Pix[i]
		g.img.Pix[i], g.img.Pix[i+1], g.img.Pix[i+2], g.img.Pix[i+3] = v, v, v, 255
	}
	return g
}

// packed returns a normal map as ASTC has it, X in the colours and Y in alpha, and others as
// they are.
func (s *sample) packed() *image.NRGBA {
	if s.kind != normals {
		return s.img
	}
	out := image.NewNRGBA(s.img.Rect)
	for i := 0; i < len(out.Pix); i += 4 {
		x, y := s.img.Pix[i], s.img.Pix[i+1]
		out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3] = x, x, x, y
	}
	return out
}

// psnr is the ratio in decibels over the channels in use; of a normal map X and Y.
func (s *sample) psnr(got []byte) float64 {
	channels := 3
	switch s.kind {
	case alphas:
		channels = 4
	case normals:
		channels = 2
	}
	sum, n := 0., 0
	for i := range got {
		if i&3 < channels {
			d := float64(got[i]) - float64(s.img.Pix[i])
			sum += d * d
			n++
		}
	}
	return 10 * math.Log10(255*255/max(sum/float64(n), 1e-4))
}
