package texture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/internal/picture"
)

// Shrink writes copies of staged images into dir whose longer side is at most
// side pixels, named after the original with suffix. Images that are small
// enough stand for themselves; unused ones get no copy and no File. uses is
// parallel to staged. An image that turns out to be damaged stands for itself,
// with Kept set. The outcome does not depend on jobs.
func Shrink(ctx context.Context, dir string, staged []Staged, uses []Use, side int, suffix string, limits Limits, jobs int) ([]Staged, error) {
	uses = slices.Clone(uses)
	out := make([]Staged, len(staged))
	names := namer{}
	first := map[string]int{} // staged file to index into out
	var todo []int
	for i := range staged {
		if staged[i].File != "" {
			names.taken = mark(names.taken, staged[i].File)
		}
	}
	for i, s := range staged {
		if s.File == "" || uses[i] == Unused {
			continue
		}
		if k, ok := first[s.File]; ok {
			uses[k] = max(uses[k], uses[i])
			continue
		}
		first[s.File] = i
		if out[i] = s; max(s.Width, s.Height) <= side {
			continue
		}
		ext := filepath.Ext(s.File)
		out[i].File = names.pick(strings.TrimSuffix(s.File, ext)+suffix, ext, s.File)
		out[i].Width, out[i].Height = fitInto(s.Width, s.Height, side)
		todo = append(todo, i)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(jobs, 1))
	memory := limits.budget()
	for _, i := range todo {
		g.Go(func() error {
			n, err := shrinkWithin(ctx, memory, limits, dir, &staged[i], &out[i], uses[i])
			if errors.Is(err, ErrDamaged) || errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLarge) {
				out[i] = staged[i] // what cannot be decoded stands for itself
				out[i].Kept = err
				return nil
			}
			out[i].Size = n
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, s := range staged {
		if k, ok := first[s.File]; ok && s.File != "" && uses[i] != Unused {
			out[i] = out[k]
		}
	}
	return out, nil
}

func mark(taken map[string]bool, name string) map[string]bool {
	if taken == nil {
		taken = map[string]bool{}
	}
	taken[strings.ToLower(name)] = true
	return taken
}

// fitInto scales a size so that the longer side is side.
func fitInto(w, h, side int) (int, int) {
	long := max(w, h)
	scale := func(n int) int { return max(1, (n*side+long/2)/long) }
	return scale(w), scale(h)
}

// shrinkWithin is shrinkFile once the memory has room for it.
func shrinkWithin(ctx context.Context, memory *picture.Budget, limits Limits, dir string, from, to *Staged, use Use) (int64, error) {
	need, err := from.need(filepath.Join(dir, from.File), 0)
	if err != nil {
		return 0, err
	}
	if err := limits.check(from.Width, from.Height, need); err != nil {
		return 0, err
	}
	free, err := memory.Take(ctx, need)
	if err != nil {
		return 0, err
	}
	defer free()
	return shrinkFile(dir, from.File, to, use)
}

// shrinkFile writes the copy that to describes and returns its size.
func shrinkFile(dir, file string, to *Staged, use Use) (int64, error) {
	img, err := Load(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	small := Resize(img, to.Width, to.Height, use)
	var buf bytes.Buffer
	if strings.EqualFold(filepath.Ext(file), ".png") {
		enc := png.Encoder{CompressionLevel: png.BestCompression}
		err = enc.Encode(&buf, opaqueOr(small))
	} else {
		err = jpeg.Encode(&buf, small, &jpeg.Options{Quality: 90})
	}
	if err != nil {
		return 0, fmt.Errorf("texture %s: %w", to.File, err)
	}
	return int64(buf.Len()), os.WriteFile(filepath.Join(dir, to.File), buf.Bytes(), 0o666)
}

// Resize scales an image down to w x h pixels, each the mean of the area that
// it covers: Color in linear light and weighted by alpha, Data and Normal without
// alpha. It never enlarges along an axis.
func Resize(img *image.NRGBA, w, h int, use Use) *image.NRGBA {
	role := Role{Use: use}
	if use == Color {
		role.Alpha = AlphaBlended
	}
	one := newWorkers(1)
	one.join()
	return scaled(one, img, min(w, img.Rect.Dx()), min(h, img.Rect.Dy()), role)
}
