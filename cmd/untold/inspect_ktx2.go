package main

import (
	"fmt"
	"strings"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/plainfile"
)

// inspectKTX2 shows the header and the levels of a KTX2 file.
func inspectKTX2(a *app, path string, f *inspectFlags) error {
	in, st, err := plainfile.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	k, err := ktx2.Open(in, st.Size())
	if err != nil {
		return asInputError(fmt.Errorf("%s: %w", path, err))
	}
	view := ktx2JSON(path, k)
	if f.asJSON {
		return writeJSON(a.stdout, view)
	}
	kind := view.Format
	if view.SRGB && !strings.HasSuffix(kind, "sRGB") {
		kind += "-sRGB"
	}
	if k.HasAlpha() {
		kind += ", alpha"
	}
	fmt.Fprintf(a.stdout, "%s: %d x %d texels of %s, %v, %s of %s\n\n", path, k.Width, k.Height, kind, k.Scheme, human.Bytes(view.Stored), human.Bytes(view.Bytes))
	t := newTable(f.limit, ">level", ">width", ">height", ">offset", ">stored", ">bytes")
	for i, l := range view.Levels {
		t.add(i, l.Width, l.Height, l.Offset, l.Stored, l.Bytes)
	}
	t.print(a.stdout)
	return nil
}

func ktx2JSON(path string, k *ktx2.File) textureFileView {
	out := textureFileView{
		Path: path, Container: "ktx2", Width: k.Width, Height: k.Height, Format: k.Kind(), SRGB: k.Descriptor.Transfer == ktx2.TransferSRGB,
		Scheme: k.Scheme.String(), Levels: []textureLevel{},
	}
	for i := range k.Levels() {
		w, h := k.Size(i)
		offset, stored := k.Range(i)
		n := k.Inflated(i)
		if n == 0 {
			n = stored
		}
		out.Bytes += n
		out.Stored += stored
		out.Levels = append(out.Levels, textureLevel{Width: w, Height: h, Offset: offset, Bytes: n, Stored: stored})
	}
	return out
}
