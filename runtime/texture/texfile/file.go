package texfile

import (
	"context"
	"fmt"
	"io"
	"os"
)

// File is the file of a texture, open for reading.
type File interface {
	io.ReaderAt
	io.Closer
	// Size returns the bytes of the whole file.
	Size() int64
}

// Source opens files of textures that do not lie in the folder of their payload, such as
// those of a scene at an address. Its methods are called from several goroutines.
type Source interface {
	// OpenTexture opens the file that the texture URI of a payload in the folder dir
	// names. It waits until the levels of at most maxSize texels, 0 for all, can be read,
	// or until ctx ends; what is read later ends with ctx too. known is false for folders
	// of which the Source knows nothing: what they hold lies there.
	OpenTexture(ctx context.Context, dir, uri string, maxSize int) (f File, known bool, err error)
}

// ReadFile finds the file that a texture URI of a payload in the folder dir
// names, and decodes it. It ends with the context. Errors are those of OpenFile
// and DecodeFile, or of the context.
func ReadFile(ctx context.Context, dir, uri string, o Options) (*Image, error) {
	f, err := OpenFile(ctx, dir, uri, o.MaxSize, nil)
	if err != nil {
		return nil, err
	}
	return DecodeFile(ctx, uri, f, o)
}

// OpenFile opens the file that a texture URI of a payload in the folder dir names, to be
// decoded with its levels of at most maxSize texels: that of a Source, which may be nil,
// else the one that lies there. Errors are those of the Source, of Find and of Open, or of
// the context.
func OpenFile(ctx context.Context, dir, uri string, maxSize int, s Source) (File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s != nil {
		if f, known, err := s.OpenTexture(ctx, dir, uri, maxSize); known || err != nil {
			return f, err
		}
	}
	rel, err := Find(dir, uri)
	if err != nil {
		return nil, err
	}
	f, err := Open(dir, rel)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("texture: %w", err)
	}
	return localFile{f, info.Size()}, nil
}

// localFile is a file on the disk.
type localFile struct {
	*os.File
	size int64
}

// Size returns the size that the file had when it was opened.
func (f localFile) Size() int64 { return f.size }

// DecodeFile decodes an open file, whose name stands in errors, and closes it. It ends
// with the context. Errors are those of DecodeAt, or of the context.
func DecodeFile(ctx context.Context, name string, f File, o Options) (img *Image, err error) {
	defer f.Close()
	// Decoders of foreign bytes have failed in every way before; one texture is
	// not worth the program.
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("%w: %s: the decoder failed: %v", ErrDamaged, name, p)
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.ctx = ctx
	img, err = DecodeAt(interruptible{ctx, f}, f.Size(), o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
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
