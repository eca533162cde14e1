package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/ktx2"
)

// isTexture reports whether a path names a cooked texture.
func isTexture(path string) bool { return verify.IsTexture(path) }

// inspectTexture shows a cooked texture's header and levels.
func inspectTexture(a *app, path string, f *inspectFlags) error {
	if err := f.forContainer(path); err != nil {
		return err
	}
	if f.chunk != "" || f.mesh >= 0 || f.strings || f.stats {
		return fmt.Errorf("%s is a texture; --chunk, --mesh, --strings and --stats are for containers", path)
	}
	if strings.EqualFold(filepath.Ext(path), ".ktx2") {
		return inspectKTX2(a, path, f)
	}
	r, err := utex.Open(path)
	if err != nil {
		return asInputError(err)
	}
	defer r.Close()
	if f.asJSON {
		return writeJSON(a.stdout, textureJSON(path, r))
	}
	fmt.Fprintf(a.stdout, "%s: %d x %d texels of %v, %s%s\n\n", path, r.Width, r.Height, r.Format, human.Bytes(r.Bytes(0)), flagText(r.Flags))
	t := newTable(f.limit, ">level", ">width", ">height", ">offset", ">bytes")
	for i, l := range r.Levels {
		t.add(i, l.Width, l.Height, l.Offset, l.Size)
	}
	t.print(a.stdout)
	return nil
}

// flagText lists what the texels mean.
func flagText(f utex.Flags) string {
	s := ""
	for _, x := range []struct {
		bit  utex.Flags
		name string
	}{{utex.HasAlpha, "alpha"}, {utex.Premultiplied, "premultiplied"}, {utex.NormalPacked, "packed normals"}} {
		if f&x.bit != 0 {
			s += ", " + x.name
		}
	}
	return s
}

// textureFileView is what inspect --json prints of a cooked texture.
type textureFileView struct {
	Path      string         `json:"path"`
	Container string         `json:"container"` // utex or ktx2
	Width     int            `json:"width"`
	Height    int            `json:"height"`
	Format    string         `json:"format"`
	Number    uint32         `json:"pixel_format"` // of Metal, in .utex
	SRGB      bool           `json:"srgb"`
	Flags     uint32         `json:"flags"`        // of .utex
	Scheme    string         `json:"scheme"`       // of compression: none, BasisLZ, Zstandard or ZLIB
	Bytes     int64          `json:"bytes"`        // of the blocks
	Stored    int64          `json:"stored_bytes"` // of the levels in the file
	Levels    []textureLevel `json:"levels"`
}

// textureLevel is a level of it.
type textureLevel struct {
	Width  int   `json:"width"`
	Height int   `json:"height"`
	Offset int64 `json:"offset"` // bytes
	Bytes  int64 `json:"bytes"`
	Stored int64 `json:"stored_bytes"`
}

func textureJSON(path string, r *utex.Reader) textureFileView {
	out := textureFileView{
		Path: path, Container: "utex", Scheme: ktx2.None.String(), Stored: r.Bytes(0), Width: r.Width, Height: r.Height, Format: r.Format.String(), Number: uint32(r.Format), SRGB: r.Format.SRGB(),
		Flags: uint32(r.Flags), Bytes: r.Bytes(0), Levels: []textureLevel{},
	}
	for _, l := range r.Levels {
		out.Levels = append(out.Levels, textureLevel{l.Width, l.Height, l.Offset, l.Size, l.Size})
	}
	return out
}
