package gltfexport

import (
	"crypto/sha256"
	"errors"
	"sync"

	"github.com/untoldkit/untold/cook/internal/texture"
)

// fittedCutoffs remembers cutoffs, which several exports may want of one picture.
type fittedCutoffs struct {
	mu   sync.Mutex
	made map[cutoffKey]*fittedCutoff
}

// cutoffKey is a picture, by its content, and the cutoff of its alpha.
type cutoffKey struct {
	sum    [sha256.Size]byte
	cutoff float32
}

// fittedCutoff is found by the first export that locks it.
type fittedCutoff struct {
	mu     sync.Mutex
	known  bool
	cutoff float32
}

// of returns the one of a picture.
func (f *fittedCutoffs) of(key cutoffKey) *fittedCutoff {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made == nil {
		f.made = map[cutoffKey]*fittedCutoff{}
	}
	fit := f.made[key]
	if fit == nil {
		fit = &fittedCutoff{}
		f.made[key] = fit
	}
	return fit
}

// fitCutoff returns the cutoff for a material whose picture the viewer makes mip levels of;
// slot is where the picture stands in the document, and alpha the factor of its alpha. What
// cannot be decoded keeps the given cutoff, and so does a material of which all or nothing
// is drawn.
func (c *container) fitCutoff(record uint32, slot int, cutoff, alpha float32) (float32, error) {
	sum, ok := c.tex.sums[slot]
	key := cutoffKey{sum, cutoff / alpha}
	if !ok || !(key.cutoff > 0 && key.cutoff <= 1) {
		return cutoff, nil
	}
	fit := c.tex.fitted.of(key)
	fit.mu.Lock()
	defer fit.mu.Unlock()
	if !fit.known {
		f := c.tex.open(texturePath{dir: c.dir, uri: c.r.String(c.r.Textures()[record].URIOffset)})
		if f == nil {
			return cutoff, nil
		}
		defer f.Close()
		pixels, free, err := c.tex.pixels(f)
		switch {
		case errors.Is(err, errDamaged):
			fit.cutoff = key.cutoff
		case err != nil:
			return 0, err
		default:
			fit.cutoff = texture.MipCutoff(pixels, key.cutoff)
			free()
		}
		fit.known = true
	}
	if fit.cutoff == key.cutoff {
		return cutoff, nil
	}
	return fit.cutoff * alpha, nil
}
