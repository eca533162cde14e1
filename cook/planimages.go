package cook

import (
	"crypto/sha256"
	"errors"
	"math"
	"path/filepath"
	"unsafe"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format/records"
)

// code writes or reads what containers name of images, and what keys are derived from.
func (t *textures) code(c *planfile.Coder) {
	planfile.List(c, &t.sums, 32, func(_ int, s *sum) { c.Sum((*[32]byte)(s)) })
	for _, list := range []*[]texture.Staged{&t.staged, &t.small, &t.shrunk} {
		there := *list != nil
		c.Bool(&there)
		if !there {
			continue
		}
		planfile.List(c, list, 12, func(_ int, s *texture.Staged) { codeStaged(c, s) })
		if *list == nil && c.Reading() {
			*list = []texture.Staged{}
		}
	}
}

func codeStaged(c *planfile.Coder, s *texture.Staged) {
	codeTextureName(c, &s.File)
	c.Int(&s.Width, 0, math.MaxInt32)
	c.Int(&s.Height, 0, math.MaxInt32)
	c.Int64(&s.Size)
	c.Text(&s.Change)
	codeTextureError(c, &s.Err)
	codeTextureError(c, &s.Kept)
	for i := range s.Cooked {
		there := s.Cooked[i] != nil
		c.Bool(&there)
		if !there {
			continue
		}
		if !c.Hold(uint64(unsafe.Sizeof(texture.Cooked{}))) {
			return
		}
		if c.Reading() {
			s.Cooked[i] = &texture.Cooked{}
		}
		k := s.Cooked[i]
		codeTextureName(c, &k.File)
		c.Int(&k.Width, 0, math.MaxInt32)
		c.Int(&k.Height, 0, math.MaxInt32)
		c.Int(&k.Levels, 0, math.MaxInt32)
		format := int(k.Format)
		c.Int(&format, 0, math.MaxInt32)
		k.Format = records.TextureFormat(format)
		c.Int64(&k.Size)
		c.Int64(&k.GPU)
	}
}

// codeTextureName codes the name of a file in the folder of textures.
func codeTextureName(c *planfile.Coder, name *string) {
	c.Text(name)
	if c.Reading() && *name != "" && filepath.Base(*name) != *name {
		c.Fail("a texture is called %q", clip(*name))
	}
}

// plannedError is an error of a texture that a plan tells of.
type plannedError struct {
	text string
	kind error
}

func (e *plannedError) Error() string { return e.text }
func (e *plannedError) Unwrap() error { return e.kind }

// codeTextureError codes an error of one of the kinds that textures may have.
func codeTextureError(c *planfile.Coder, err *error) {
	kinds := []error{nil, texture.ErrFormat, texture.ErrTooLarge, texture.ErrDamaged, errors.ErrUnsupported}
	kind, text := 0, ""
	if *err != nil {
		text = (*err).Error()
		for kind = 1; kind < len(kinds)-1 && !errors.Is(*err, kinds[kind]); kind++ {
		}
	}
	if c.Int(&kind, 0, len(kinds)-1); kind == 0 {
		return
	}
	if c.Text(&text); c.Reading() {
		*err = &plannedError{text, kinds[kind]}
	}
}

// plannedTextures are the images of a scene for a shard that follows a plan: none is read
// but for what is seen of it.
func plannedTextures(s *gltfscene.Scene, o *Options, ns *notes) (*textures, error) {
	t := sceneTextures(s, o, ns)
	p := o.planned
	if err := p.section(p.images, t.code); err != nil {
		return nil, err
	}
	for _, list := range [][]texture.Staged{t.staged, t.small, t.shrunk} {
		if list != nil && len(list) != len(s.Images) {
			return nil, p.damaged(planfile.ErrDamaged)
		}
	}
	if len(t.sums) != len(s.Images) || t.staged == nil && len(s.Images) > 0 {
		return nil, p.damaged(planfile.ErrDamaged)
	}
	s.CheckImages(func(image int, data []byte) error {
		if sha256.Sum256(data) != t.sums[image] {
			return p.otherImage(s, image)
		}
		return nil
	})
	t.noteStaged()
	return t, nil
}

func (p *plannedScene) otherImage(s *gltfscene.Scene, image int) error {
	return stalePlan(p.path, s.Images[image].Place+" has another content")
}

// sameImages returns an error unless images that were read are those of the plan, which
// may be nil.
func (p *plannedScene) sameImages(s *gltfscene.Scene, sums []sum) error {
	if p == nil {
		return nil
	}
	var t textures
	if err := p.section(p.images, t.code); err != nil {
		return err
	}
	for i := range sums {
		if i >= len(t.sums) || sums[i] != t.sums[i] {
			return p.otherImage(s, i)
		}
	}
	return nil
}
