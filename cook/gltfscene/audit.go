package gltfscene

import (
	"errors"
	"fmt"

	"github.com/qmuntal/gltf"
	"github.com/untoldkit/untold/internal/jsonscan"
)

// auditor looks at what the scene does not use and notes its faults: they do
// no harm here, but the author may want to know. It reads no files, but looks
// whether those of buffers exist.
type auditor struct {
	se *session
	d  *document
}

// audit runs after everything else.
func (se *session) audit() {
	a := auditor{se, se.doc}
	if n := len(a.d.animations.raw); n > 0 {
		se.notes.add(n, true, "animations-skipped", "animations[0]", "animations are not cooked: nodes stay where the file puts them")
	}
	for _, t := range a.d.tables() {
		t.audit(func(err error) { a.fault("", err) })
		if t.isEmpty() {
			se.notes.info("empty-array", t.title(), "an array of the document is empty, which glTF forbids; it counts as absent")
		}
	}
	a.buffers()
	a.nodes()
	a.meshes()
	a.textures()
	a.materials()
	a.skinsAndAnimations()
	a.cameras()
	for i, l := range a.d.parseLights() {
		if !a.d.lightsUsed[i] { // of others light-faulty tells
			a.fault("", l.err)
		}
	}
}

// fault notes err, if any, at place.
func (a *auditor) fault(place string, err error) {
	if err == nil {
		return
	}
	if place != "" {
		err = at(place, err)
	}
	a.se.notes.fault("unused-part-faulty", "a part of the file that is not cooked is faulty", err)
}

// unused calls f for the elements that the scene does not use and that
// decode; table.audit has reported the others.
func unused[T any](t *table[T], f func(i int, v *T, place string)) {
	for i, used := range t.used {
		if used {
			continue
		}
		if v, err := t.peek(i); err == nil {
			f(i, v, t.place(i))
		}
	}
}

func (a *auditor) buffers() {
	d := a.d
	seen := make(map[string]bool)
	unused(&d.buffers, func(i int, b *gltf.Buffer, place string) {
		if b.ByteLength == 0 {
			a.fault(place+".byteLength", malformed("", "is 0"))
		}
		a.se.observe(place, onBuffer, d.buffers.raw[i])
		const most = 1000 // a file that names more is not looked into further
		uri := uriOf(d.buffers.raw[i])
		if uri == nil || isDataURI(uri) || isPlaceholder(d.buffers.raw[i]) || seen[string(uri)] || len(seen) == most {
			return
		}
		seen[string(uri)] = true
		x, err := find(a.se.src, string(uri), a.se.opts.AllowParentPaths)
		if err == nil && x.size < int64(b.ByteLength) {
			err = malformed("", "file %s has %d bytes, byteLength is %d", quote(x.name), x.size, b.ByteLength)
		}
		if !errors.Is(err, ErrUnsupported) { // a remote address is no fault
			a.fault(place, err)
		}
	})
	unused(&d.views, func(i int, v *gltf.BufferView, place string) {
		a.se.observe(place, onView, d.views.raw[i])
		a.compressed(place, d.views.raw[i])
		if strideFault(v.ByteStride) {
			a.fault(place+".byteStride", malformed("", "is %d, must be a multiple of 4 within 4 to 252", v.ByteStride))
		}
		if err := d.buffers.check(v.Buffer); err != nil {
			a.fault(place+".buffer", err)
		} else if b, err := d.buffers.peek(v.Buffer); err == nil {
			a.fault(place, viewFits(v, b.ByteLength))
		}
	})
	unused(&d.accessors, func(i int, acc *gltf.Accessor, place string) {
		if acc.BufferView == nil {
			if jsonscan.Member(d.accessors.raw[i], "byteOffset") != nil {
				a.fault(place+".byteOffset", malformed("", "stands without a bufferView"))
			}
			return
		}
		v, err := d.views.peek(*acc.BufferView)
		if err != nil {
			a.fault(place+".bufferView", d.views.check(*acc.BufferView))
			return
		}
		_, size := componentsOf(acc.Type, componentGL[acc.ComponentType])
		stride := v.ByteStride
		if stride == 0 {
			stride = size
		}
		a.fault(place, fits(v.ByteLength, acc.ByteOffset, acc.Count, stride, size))
	})
}

// compressed checks the description of compressed data.
func (a *auditor) compressed(place string, raw []byte) {
	ext, name := meshoptOf(raw)
	if ext == nil {
		return
	}
	var v meshoptView
	err := meshoptSchema.decode(ext, &v)
	if err == nil {
		_, err = v.layout()
	}
	if err == nil {
		err = a.d.buffers.check(v.Buffer)
	}
	a.fault(place+".extensions."+name, err)
}

func (a *auditor) nodes() {
	d := a.d
	parent := make([]bool, len(d.nodes.raw))
	unused(&d.nodes, func(i int, n *gltf.Node, place string) {
		a.se.observe(place, onNode, d.nodes.raw[i])
		for k, c := range n.Children {
			where := fmt.Sprintf("%s.children[%d]", place, k)
			switch err := d.nodes.check(c); {
			case err != nil:
				a.fault(where, err)
			case c == i:
				a.fault(where, malformed("", "node %d is its own child", c))
			case parent[c]:
				a.fault(where, malformed("", "node %d has two parents", c))
			default:
				parent[c] = true
			}
		}
		if n.Mesh != nil {
			a.fault(place+".mesh", d.meshes.check(*n.Mesh))
		}
		if n.Camera != nil {
			a.fault(place+".camera", d.cameras.check(*n.Camera))
		}
		if n.Skin != nil {
			a.fault(place+".skin", d.skins.check(*n.Skin))
		}
	})
}

func (a *auditor) textures() {
	d := a.d
	unused(&d.textures, func(i int, t *gltf.Texture, place string) {
		a.se.observe(place, onTexture, d.textures.raw[i])
		if t.Source != nil {
			a.fault(place+".source", d.images.check(*t.Source))
		}
		if t.Sampler != nil {
			a.fault(place+".sampler", d.samplers.check(*t.Sampler))
		}
	})
	for i, used := range d.images.used {
		img, err := d.images.peek(i)
		if used || err != nil {
			continue
		}
		place, uri := d.images.place(i), uriOf(d.images.raw[i])
		switch {
		case uri == nil && img.BufferView == nil:
			a.fault(place, malformed("", "has neither a uri nor a bufferView"))
		case uri != nil && img.BufferView != nil:
			a.fault(place, malformed("", "has a uri as well as a bufferView"))
		case img.BufferView != nil:
			a.imageView(place, img)
		}
	}
}

// imageView checks an unused image in a bufferView.
func (a *auditor) imageView(place string, img *gltf.Image) {
	v, err := a.d.views.peek(*img.BufferView)
	switch {
	case err != nil:
		a.fault(place+".bufferView", a.d.views.check(*img.BufferView))
	case v.ByteStride != 0:
		a.fault(place+".bufferView", malformed("", "has a byteStride, which images must not have"))
	case img.MimeType == "":
		a.fault(place+".mimeType", malformed("", "is missing"))
	}
}

// materials checks the texture references of unused materials.
func (a *auditor) materials() {
	for i, used := range a.d.materials.used {
		if _, err := a.d.materials.peek(i); used || err != nil {
			continue
		}
		place, raw := a.d.materials.place(i), a.d.materials.raw[i]
		pbr := jsonscan.Member(raw, "pbrMetallicRoughness")
		a.se.observe(place, onMaterial, raw)
		a.se.observe(place+".pbrMetallicRoughness", onPBR, pbr)
		for _, slot := range []struct {
			name  string
			value []byte
		}{
			{".pbrMetallicRoughness.baseColorTexture", jsonscan.Member(pbr, "baseColorTexture")},
			{".pbrMetallicRoughness.metallicRoughnessTexture", jsonscan.Member(pbr, "metallicRoughnessTexture")},
			{".normalTexture", jsonscan.Member(raw, "normalTexture")},
			{".occlusionTexture", jsonscan.Member(raw, "occlusionTexture")},
			{".emissiveTexture", jsonscan.Member(raw, "emissiveTexture")},
		} {
			if index, ok := wholeNumber(jsonscan.Member(slot.value, "index")); ok {
				a.fault(place+slot.name+".index", a.d.textures.check(index))
			}
		}
	}
}

// skinsAndAnimations checks references of skins that pose nothing, and of animations.
func (a *auditor) skinsAndAnimations() {
	d := a.d
	unused(&d.skins, func(_ int, s *gltf.Skin, place string) {
		for k, j := range s.Joints {
			a.fault(fmt.Sprintf("%s.joints[%d]", place, k), d.nodes.check(j))
		}
	})
	unused(&d.animations, func(_ int, an *gltf.Animation, place string) {
		for k, s := range an.Samplers {
			where := fmt.Sprintf("%s.samplers[%d]", place, k)
			in, err := d.accessors.peek(s.Input)
			if err != nil {
				a.fault(where+".input", err)
				continue
			}
			if in.Type != gltf.AccessorScalar || in.ComponentType != gltf.ComponentFloat {
				a.fault(where+".input", malformed("", "must be SCALAR of FLOAT"))
			}
			if s.Interpolation == gltf.InterpolationCubicSpline && in.Count < 2 {
				a.fault(where+".input", malformed("", "has %d key, cubic splines need 2", in.Count))
			}
			a.fault(where+".output", d.accessors.check(s.Output))
		}
		if len(an.Channels) == 0 {
			a.fault(place+".channels", malformed("", "is empty"))
		}
		for k, c := range an.Channels {
			where := fmt.Sprintf("%s.channels[%d]", place, k)
			if c.Sampler >= len(an.Samplers) {
				a.fault(where+".sampler", malformed("", "names sampler %d of %d", c.Sampler, len(an.Samplers)))
			}
			if c.Target.Node != nil {
				a.fault(where+".target.node", d.nodes.check(*c.Target.Node))
			}
		}
	})
}

func (a *auditor) cameras() {
	unused(&a.d.cameras, func(i int, c *gltf.Camera, place string) {
		_, err := parseCamera(c, a.d.cameras.raw[i])
		a.fault(place, err)
	})
}
