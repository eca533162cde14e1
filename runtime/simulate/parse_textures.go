package simulate

import (
	"fmt"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// textures reads the scene's textures: a size by name. A size is an edge, two of
// them, or an object with the way in which the texels are stored.
func (s *Scenario) textures(d *decoder, n *node) {
	if s.Textures == nil { // of all scenes
		s.Textures = map[string]texfile.Size{}
	}
	d.each(n, func(name string, n *node) {
		width, height, stored := int64(0), int64(0), texfile.RGBA8.String()
		size := func(n *node) { width, height = d.texels(n) }
		if n.kind == '{' {
			d.object(n, fields{
				"size":   size,
				"format": d.oneOf(&stored, texfile.Encodings()...),
				"note":   d.text(new(string)),
			}, "size")
		} else {
			size(n)
		}
		if d.err != nil {
			return
		}
		enc, _ := texfile.ParseEncoding(stored)
		v, err := texfile.NewSize(int(width), int(height), enc)
		if err != nil {
			d.fail(n, err.Error(), "")
		}
		s.Textures[name] = v
	})
}

// texels reads an edge, or a width and a height.
func (d *decoder) texels(n *node) (width, height int64) {
	if n.kind != '[' {
		edge := d.integer(n, 1, 1<<16)
		return edge, edge
	}
	if len(n.items) != 2 {
		d.fail(n, fmt.Sprintf("wants a width and a height, not %d numbers", len(n.items)), "")
		return 0, 0
	}
	return d.integer(&n.items[0], 1, 1<<16), d.integer(&n.items[1], 1, 1<<16)
}

// textureNames reads a list of names of the scene's textures.
func (s *Scenario) textureNames(d *decoder, n *node) (names []string) {
	d.array(n, func(n *node) {
		s.checkTexture(d, n)
		names = append(names, n.text)
	})
	return names
}

// checkTexture refuses names that the scene lacks.
func (s *Scenario) checkTexture(d *decoder, n *node) {
	if !d.is(n, '"', "a text") {
		return
	}
	if _, ok := s.Textures[n.text]; !ok {
		d.fail(n, fmt.Sprintf("the scene has no texture %q", clip(n.text)), nearest(n.text, s.Textures))
	}
}
