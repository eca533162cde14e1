package texfile

import (
	"context"
	"fmt"
	"io"
)

// ReadFile finds the file that a texture URI of a payload in the folder dir
// names, and decodes it. It ends with the context. Errors are those of Find, Open
// and DecodeAt, or of the context.
func ReadFile(ctx context.Context, dir, uri string, o Options) (img *Image, err error) {
	// Decoders of foreign bytes have failed in every way before; one texture is
	// not worth the program.
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("%w: %s: the decoder failed: %v", ErrDamaged, uri, p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rel, err := Find(dir, uri)
	if err != nil {
		return nil, err
	}
	f, err := Open(dir, rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("texture: %w", err)
	}
	o.ctx = ctx
	img, err = DecodeAt(interruptible{ctx, f}, info.Size(), o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rel, err)
	}
	return img, nil
}

// interruptible is a file whose reads end with a context.
type interruptible struct {
	ctx context.Context
	r   io.ReaderAt
}

func (i interruptible) ReadAt(p []byte, off int64) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.ReadAt(p, off)
}
