package main

import (
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/untoldkit/untold/cook/appearance"
	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/imagediff"
)

// pictureSides are shown in pictures: one from near the ground, one from above.
var pictureSides = []int{0, 4}

// pictureWidth is how wide each of them is at least; small ones are enlarged by
// whole numbers.
const pictureWidth = 320

// writePictures writes MODEL.PERCENT.png: from the left the model, the level and
// what others made of it as far as they are in a folder, and below the levels
// where FLIP sees a difference.
func (s *subject) writePictures(o *options, c cell, level *simplify.Mesh) error {
	levels := []*appearance.Mesh{levelAsSeen(level)}
	for _, peer := range []string{blender, attrUpdate} {
		m, err := readMesh(filepath.Join(o.others, peerFile(c.Model, peer, c.Ratio)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.viewer.check(asSeen(m)); err != nil {
			return err
		}
		levels = append(levels, asSeen(m))
	}
	var rows [][]*image.NRGBA
	for _, side := range pictureSides {
		seen, maps := []*image.NRGBA{nil}, []*image.NRGBA{nil}
		for _, m := range levels {
			a, b := s.viewer.sights(m, side, c.Across)
			full, _ := a.Image()
			result, _ := b.Image()
			d, err := imagediff.FLIP(full, result, imagediff.PixelsPerDegree)
			if err != nil {
				return err
			}
			seen[0] = full
			seen, maps = append(seen, result), append(maps, d.Image())
		}
		rows = append(rows, seen, maps)
	}
	if err := os.MkdirAll(o.pictures, 0o755); err != nil {
		return err
	}
	return writePNG(filepath.Join(o.pictures, fmt.Sprintf("%s.%d.png", c.Model, percent(c.Ratio))), sheet(rows))
}

// sheet puts pictures beside and below each other; nil leaves a gap.
func sheet(rows [][]*image.NRGBA) *image.NRGBA {
	across := 1
	for _, row := range rows {
		for _, img := range row {
			if img != nil {
				across = max(across, img.Rect.Dx())
			}
		}
	}
	scale := max(1, (pictureWidth+across-1)/across)
	out := image.NewNRGBA(image.Rectangle{})
	at := image.Point{}
	for _, row := range rows {
		at.X = 0
		high := 0
		for _, img := range row {
			if img != nil {
				big := enlarge(img, scale)
				to := big.Rect.Add(at)
				if all := out.Rect.Union(to); all != out.Rect {
					grown := image.NewNRGBA(all)
					draw.Draw(grown, out.Rect, out, image.Point{}, draw.Src)
					out = grown
				}
				draw.Draw(out, to, big, image.Point{}, draw.Src)
				high = max(high, big.Rect.Dy())
			}
			at.X += across * scale
		}
		at.Y += high
	}
	return out
}

// enlarge repeats pixels.
func enlarge(img *image.NRGBA, scale int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, img.Rect.Dx()*scale, img.Rect.Dy()*scale))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.SetNRGBA(x, y, img.NRGBAAt(x/scale, y/scale))
		}
	}
	return out
}

func writePNG(path string, img image.Image) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return png.Encode(f, img)
}
