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
	made map[cutoffKey]float32
}

// cutoffKey is a picture, by its content, and the cutoff of its alpha.
type cutoffKey struct {
	sum    [sha256.Size]byte
	cutoff float32
}

// fitCutoff returns the cutoff for a material whose picture the viewer makes mip levels of;
// slot is where the picture stands in the document, and alpha the factor of its alpha. What
// cannot be decoded keeps the given cutoff.
func (c *container) fitCutoff(record uint32, slot int, cutoff, alpha float32) (float32, error) {
	if !(alpha > 0) {
		return cutoff, nil
	}
	sum, ok := c.tex.sums[slot]
	if !ok {
		return cutoff, nil
	}
	of := cutoffKey{sum, cutoff / alpha}
	c.tex.fitted.mu.Lock()
	fitted, ok := c.tex.fitted.made[of]
	c.tex.fitted.mu.Unlock()
	if ok {
		return fitted * alpha, nil
	}
	f := c.tex.open(texturePath{dir: c.dir, uri: c.r.String(c.r.Textures()[record].URIOffset)})
	if f == nil {
		return cutoff, nil
	}
	defer f.Close()
	pixels, free, err := c.tex.pixels(f)
	if errors.Is(err, errDamaged) {
		return cutoff, nil
	}
	if err != nil {
		return 0, err
	}
	defer free()
	fitted = texture.MipCutoff(pixels, of.cutoff)
	c.tex.fitted.mu.Lock()
	defer c.tex.fitted.mu.Unlock()
	if c.tex.fitted.made == nil {
		c.tex.fitted.made = map[cutoffKey]float32{}
	}
	c.tex.fitted.made[of] = fitted
	return fitted * alpha, nil
}
