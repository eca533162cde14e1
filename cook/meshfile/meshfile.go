package meshfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/gltfdoc"
)

// Format is a kind of mesh file.
type Format uint8

// The formats.
const (
	None Format = iota
	OBJ
	PLY
	STL
)

// String returns the name as people write it.
func (f Format) String() string { return [...]string{"none", "OBJ", "PLY", "STL"}[f] }

// FormatOf tells the format by the end of a file's name; None for any other.
func FormatOf(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".obj":
		return OBJ
	case ".ply":
		return PLY
	case ".stl":
		return STL
	}
	return None
}

// Options say how a file is read.
type Options struct {
	// Up is the axis that points upwards in the file, "y" or "z"; empty is the format's
	// habit: y for OBJ, z for PLY and STL.
	Up string
	// Metres is how long a unit of the file is; 0 stands for 1.
	Metres float64
	// Memory is the main memory, in bytes, of which reading takes a part; 0 stands for
	// 1 GiB. The result does not depend on it.
	Memory int64
	// AllowParentPaths permits names of MTL files and images that leave the file's folder.
	AllowParentPaths bool
	// AllowMissing makes an MTL file that is missing a warning.
	AllowMissing bool

	// Progress, when set, is called with hundredths, as they are done: 100 for reading and
	// 100 for making a scene.
	Progress func(done, total int)

	piece int // triangles of a piece, in tests
}

func (o *Options) memory() int64 {
	if o.Memory > 0 {
		return o.Memory
	}
	return 1 << 30
}

// share is what one of the lists may keep in memory.
func (o *Options) share() int64 { return max(o.memory()/20, 1<<20) }

// up returns the axis that counts.
func (o *Options) up(f Format) string {
	switch {
	case o.Up != "":
		return o.Up
	case f == OBJ:
		return "y"
	}
	return "z"
}

func (o *Options) metres() float64 {
	if o.Metres > 0 {
		return o.Metres
	}
	return 1
}

// Read makes a scene of an open file of the format. name is its path; MTL files and
// images are looked for beside it. The error is a *gltfscene.Error that names the file, or
// ctx's. Whoever gets the scene closes it, or hands it to gltfscene.OpenMade.
func Read(ctx context.Context, name string, f *os.File, format Format, opts Options) (*gltfscene.Made, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, &gltfscene.Error{File: name, Reason: "cannot be read: " + err.Error(), Err: errors.Join(gltfscene.ErrMissingFile, err)}
	}
	beside, err := newFolder(filepath.Dir(name), opts.AllowParentPaths)
	if err != nil {
		return nil, &gltfscene.Error{File: name, Reason: "its folder cannot be read: " + err.Error(), Err: errors.Join(gltfscene.ErrMissingFile, err)}
	}
	defer beside.close()
	made, err := read(ctx, filepath.Base(name), io.NewSectionReader(f, 0, st.Size()), st.Size(), beside, format, opts)
	if err == nil {
		return made, nil
	}
	return nil, gltfdoc.Named(ctx, name, err)
}

// read makes a scene of size bytes.
func read(ctx context.Context, base string, r io.ReaderAt, size int64, beside files, format Format, opts Options) (*gltfscene.Made, error) {
	s := newSoup(ctx, base, format, &opts)
	defer s.drop()
	in := &counted{SectionReader: io.NewSectionReader(r, 0, size), size: size, progress: opts.Progress}
	if size == 0 {
		return nil, malformed("", "the file is empty")
	}
	var err error
	switch format {
	case OBJ:
		err = readOBJ(s, in, beside)
	case PLY:
		err = readPLY(s, in, size)
	case STL:
		err = readSTL(s, in, size)
	default:
		err = fmt.Errorf("meshfile: format %d is unknown", format)
	}
	if err != nil {
		return nil, err
	}
	return s.build()
}

// counted is a file whose reading is reported.
type counted struct {
	*io.SectionReader
	n, size  int64
	said     int64
	progress func(done, total int)
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.SectionReader.Read(b)
	c.n += int64(n)
	if part := c.n * 100 / c.size; c.progress != nil && part > c.said && part <= 100 {
		c.said = part
		c.progress(int(part), 200)
	}
	return n, err
}

// malformed returns an error about bytes that break a rule of the format.
func malformed(place, format string, args ...any) *gltfscene.Error {
	return &gltfscene.Error{Place: place, Reason: fmt.Sprintf(format, args...), Err: gltfscene.ErrMalformed}
}

// line places an error.
func line(n int) string { return fmt.Sprintf("line %d", n) }
