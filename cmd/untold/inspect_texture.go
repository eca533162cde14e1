package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/human"
)

// isTexture reports whether a path names a cooked texture.
func isTexture(path string) bool { return strings.EqualFold(filepath.Ext(path), ".utex") }

// inspectTexture shows a cooked texture's header and levels.
func inspectTexture(a *app, path string, f *inspectFlags) error {
	if err := f.forContainer(path); err != nil {
		return err
	}
	if f.chunk != "" || f.mesh >= 0 || f.strings || f.stats {
		return fmt.Errorf("%s is a texture; --chunk, --mesh, --strings and --stats are for containers", path)
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

// textureFileView is what inspect --json prints of a .utex file.
type textureFileView struct {
	Path   string         `json:"path"`
	Width  int            `json:"width"`
	Height int            `json:"height"`
	Format string         `json:"format"`
	Number uint32         `json:"pixel_format"` // of Metal
	SRGB   bool           `json:"srgb"`
	Flags  uint32         `json:"flags"`
	Bytes  int64          `json:"bytes"`
	Levels []textureLevel `json:"levels"`
}

// textureLevel is a level of it.
type textureLevel struct {
	Width  int   `json:"width"`
	Height int   `json:"height"`
	Offset int64 `json:"offset"` // bytes
	Bytes  int64 `json:"bytes"`
}

func textureJSON(path string, r *utex.Reader) textureFileView {
	out := textureFileView{
		Path: path, Width: r.Width, Height: r.Height, Format: r.Format.String(), Number: uint32(r.Format), SRGB: r.Format.SRGB(),
		Flags: uint32(r.Flags), Bytes: r.Bytes(0), Levels: []textureLevel{},
	}
	for _, l := range r.Levels {
		out.Levels = append(out.Levels, textureLevel{l.Width, l.Height, l.Offset, l.Size})
	}
	return out
}
