package gltfscene

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/qmuntal/gltf"

	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/picture"
)

// loadImages makes Scene.Images of the images that materials use, in file
// order, and puts their positions into the materials.
func (mr *materialReader) loadImages() error {
	list := slices.Sorted(maps.Keys(mr.images))
	for i, index := range list {
		if err := mr.ctx.Err(); err != nil {
			return err
		}
		img, err := mr.image(index)
		if err != nil {
			if !mr.opts.AllowMissingImages {
				return mr.withOthers(err, list[i+1:])
			}
			var e *Error
			errors.As(err, &e)
			mr.notes.warn("image-missing", e.Place, "an image was left out: "+e.Reason)
			continue
		}
		mr.images[index] = len(mr.scene.Images)
		mr.scene.Images = append(mr.scene.Images, img)
	}
	for i := range mr.scene.Materials {
		for _, s := range mr.scene.Materials[i].slots() {
			if s.ref.Image >= 0 {
				s.ref.Image = mr.images[s.ref.Image]
			}
		}
	}
	return nil
}

// withOthers tells with an image that is missing how many of a list are missing as well, so
// that they need not be found one by one.
func (mr *materialReader) withOthers(err error, list []int) error {
	var e *Error
	if !errors.Is(err, ErrMissingFile) || !errors.As(err, &e) {
		return err
	}
	n := 0
	for _, index := range list {
		if mr.ctx.Err() != nil {
			break
		}
		if _, other := mr.image(index); errors.Is(other, ErrMissingFile) {
			n++
		}
	}
	if n == 0 {
		return err
	}
	c := *e
	if c.Reason += ", and another image is missing"; n > 1 {
		c.Reason = fmt.Sprintf("%s, and %d more images are missing", e.Reason, n)
	}
	return &c
}

// image finds image index.
func (mr *materialReader) image(index int) (Image, error) {
	t := &mr.doc.images
	if made := index - len(t.raw); made >= 0 && made < len(mr.made) {
		return mr.made[made], nil
	}
	src, err := t.get(index)
	if err != nil {
		return Image{}, err
	}
	raw := t.raw[index]
	img := Image{Index: index, Name: cleanName(src.Name), Place: t.place(index)}
	uri := uriOf(raw)
	switch {
	case src.BufferView != nil:
		if uri != nil {
			mr.notes.warn("image-ambiguous", t.place(index), "an image has a uri as well as a bufferView; the bufferView was used")
		}
		err = mr.viewImage(&img, src, t.place(index))
	case uri == nil:
		err = malformed("", "has neither a uri nor a bufferView")
	case isDataURI(uri):
		var data []byte
		data, err = decodeDataURI(uri)
		img.at = memoryExtent(data)
	default:
		err = mr.externalImage(&img, string(uri))
	}
	if err == nil && img.at.n == 0 {
		err = malformed("", "is empty")
	}
	if err == nil {
		var head []byte
		head, err = img.at.part(0, min(img.at.n, picture.SniffBytes)).bytes()
		img.MIME = picture.Sniff(head).MIME
	}
	if err != nil {
		return img, at(t.place(index), err)
	}
	if src.MimeType != "" && img.MIME != "" && src.MimeType != img.MIME {
		mr.notes.info("image-mime", t.place(index), "an image is "+img.MIME+", not "+clip(src.MimeType)+" as its mimeType says")
	}
	return img, nil
}

// viewImage finds an image in a bufferView.
func (mr *materialReader) viewImage(img *Image, src *gltf.Image, place string) error {
	v, err := mr.data.view(*src.BufferView)
	if err != nil {
		return at(".bufferView", err)
	}
	if v.stride != 0 {
		mr.notes.warn("image-byte-stride", place, "the bufferView of an image has a byteStride, which was ignored")
	}
	if src.MimeType == "" {
		mr.notes.warn("image-mime-missing", place, "an image in a bufferView lacks its mimeType; its first bytes tell it")
	}
	if err := mr.data.reserve("", int64(v.at.n), 1); err != nil {
		return err
	}
	if err := mr.data.checkReserved(); err != nil {
		return err
	}
	img.at = v.at
	return nil
}

// externalImage finds an image in a file.
func (mr *materialReader) externalImage(img *Image, uri string) error {
	mr.noteBackslash(uri)
	x, err := find(mr.src, uri, mr.opts.AllowParentPaths)
	if err != nil {
		var e *Error
		if errors.Is(err, ErrMissingFile) && errors.As(err, &e) {
			if e.Hint != "" {
				e.Hint += "; "
			}
			e.Hint += "put it there, or leave it out with Options.AllowMissingImages"
		}
		return err
	}
	switch {
	case x.size > mr.opts.maxFile():
		return &Error{
			Reason: fmt.Sprintf("file %s has %d bytes, the limit is %d", quote(x.name), x.size, mr.opts.maxFile()),
			Hint:   "raise Options.MaxFileBytes", Err: ErrTooLarge,
		}
	case x.size == 0:
		return malformed("", "file %s is empty", quote(x.name))
	}
	if img.at, err = x.extent(x.size); err != nil {
		return err
	}
	img.URI, img.file = x.name, x.src.path(x.name)
	mr.scene.Files = append(mr.scene.Files, img.file)
	return nil
}

// checkKTX2 says why an image of the file is no KTX2 picture that can be decoded, as far
// as its header tells.
func (mr *materialReader) checkKTX2(index int) error {
	data, err := mr.peekImage(index)
	if err != nil {
		return err
	}
	f, err := ktx2.Parse(data)
	if err != nil {
		return err
	}
	return f.Check()
}

// peekImage returns the bytes of an image that is not taken into the scene yet, and
// notes nothing about it but its file.
func (mr *materialReader) peekImage(index int) ([]byte, error) {
	t := &mr.doc.images
	if err := t.check(index); err != nil {
		return nil, err
	}
	src, err := t.get(index)
	if err != nil {
		return nil, err
	}
	uri := uriOf(t.raw[index])
	switch {
	case src.BufferView != nil:
		v, err := mr.data.view(*src.BufferView)
		if err != nil {
			return nil, err
		}
		return v.at.bytes()
	case uri == nil:
		return nil, malformed("", "has neither a uri nor a bufferView")
	case isDataURI(uri):
		return decodeDataURI(uri)
	}
	x, err := find(mr.src, string(uri), mr.opts.AllowParentPaths)
	if err != nil {
		return nil, err
	}
	mr.scene.Files = append(mr.scene.Files, x.src.path(x.name))
	file, err := x.extent(min(x.size, mr.opts.maxFile()))
	if err != nil {
		return nil, err
	}
	return file.bytes()
}

// Bytes returns the encoded image: the embedded bytes, which must not be
// modified, or those of the external file. What is not in memory is read on every call.
// The error is an *Error.
func (im *Image) Bytes() ([]byte, error) {
	data, err := im.at.bytes()
	if err == nil && im.check != nil {
		err = im.check(data)
	}
	if err != nil {
		return nil, at(im.Place, err)
	}
	return data, nil
}

// Size returns the number of bytes that Bytes returns.
func (im *Image) Size() int64 { return int64(im.at.n) }
