package gltfscene

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/glb"
	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/internal/plainfile"
)

// container is the outer layer of a file: its JSON and, in a .glb, where its binary chunk
// lies.
type container struct {
	json     []byte
	bin      extent
	hasBin   bool
	marked   bool     // a byte order mark stood before the JSON
	odd      bool     // some chunk is no multiple of 4 long
	padded   bool     // the JSON is padded with zero bytes, as old exporters do
	trailing int64    // bytes after the end that the header states
	images   []string // places of images that another file names
}

// openContainer tells a .glb from a .gltf by the first bytes of a file of a size. It reads
// all of it but the binary chunk.
func openContainer(at store, size int64) (container, error) {
	r, end, err := at.reader()
	if err != nil {
		return container{}, err
	}
	defer end()
	var head []byte
	first, err := r.slice(0, int(min(size, 12)), &head)
	if err != nil {
		return container{}, err
	}
	if bytes.HasPrefix(first, []byte("glTF")) {
		return splitGLB(at, r, size, first)
	}
	var data []byte
	if data, err = r.slice(0, int(size), &data); err != nil {
		return container{}, err
	}
	c := container{json: data}
	c.skipMark()
	if err := refuseOther(c.json); err != nil {
		return container{}, err
	}
	return c, nil
}

// splitGLB cuts a binary glTF into its chunks.
func splitGLB(at store, r ranges, size int64, head []byte) (c container, err error) {
	if len(head) >= 12 {
		switch version := binary.LittleEndian.Uint32(head[4:]); version {
		case 2:
		case 1:
			return c, gltf1()
		default:
			return c, unsupported("", "export it as glTF 2.0", "binary glTF version %d is not supported, only 2", version)
		}
	}
	from := r.at
	if from == nil {
		from = bytes.NewReader(r.all)
	}
	text, bin, trailing, err := glb.Locate(from, size)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			return c, err // of reading
		}
		return c, malformed("", "%v", err)
	}
	if c.json, err = r.slice(int(text.Offset), int(text.Size), &c.json); err != nil {
		return c, err
	}
	c.trailing, c.hasBin, c.odd = trailing, bin.Offset > 0, text.Size%4 != 0 || bin.Size%4 != 0
	if c.hasBin {
		c.bin = extent{at, int(bin.Offset), int(bin.Size)}
	}
	if n := len(c.json); n > 0 && c.json[n-1] == 0 {
		c.json, c.padded = bytes.TrimRight(c.json, "\x00"), true
	}
	c.skipMark()
	return c, nil
}

// skipMark takes off the byte order mark that some editors and exporters write.
func (c *container) skipMark() {
	c.json, c.marked = bom.Cut(c.json)
}

// gltf1 refuses glTF 1.0, which differs in nearly every structure.
func gltf1() error {
	return unsupported("", "convert it to 2.0, for example with `gltf-pipeline -i old.gltf -o new.glb`",
		"this is glTF 1.0; only glTF 2.0 is supported")
}

// foreign lists first bytes of files that people confuse with glTF.
var foreign = []struct{ magic, name, hint string }{
	{"Kaydara FBX", "FBX", "convert it first, for example with `assimp export a.fbx a.glb -fglb2`"},
	{"b3dm", "a 3D Tiles b3dm container", "extract the .glb inside it first"},
	{"i3dm", "a 3D Tiles i3dm container", "extract the .glb inside it first"},
	{"cmpt", "a 3D Tiles cmpt container", "extract the .glb inside it first"},
	{"pnts", "a 3D Tiles point cloud", ""},
	{"PK\x03\x04", "a zip archive (or .usdz)", "unpack it first, or give a package of USD the ending .usdz"},
	{"#usda ", "a layer of USD", "give it the ending .usda"},
	{"PXR-USDC", "a binary layer of USD", "give it the ending .usdc"},
	{"\x1F\x8B", "a gzip stream", "unpack it first"},
	{"\x28\xB5\x2F\xFD", "a zstd stream", "unpack it first"},
	{"BLENDER", "a Blender file", "export it as glTF 2.0"},
	{"ply", "a PLY mesh", "give it the ending .ply"},
	{"solid", "an STL mesh", "give it the ending .stl"},
}

// refuseOther returns an error unless data looks like a JSON object.
func refuseOther(data []byte) error {
	switch {
	case len(data) == 0:
		return malformed("", "the file is empty")
	case bytes.HasPrefix(data, []byte("\xFF\xFE")), bytes.HasPrefix(data, []byte("\xFE\xFF")):
		e := malformed("", "is UTF-16, glTF must be UTF-8")
		e.Hint = "save it as UTF-8"
		return e
	}
	if i := jsonscan.Space(data, 0); i < len(data) && data[i] == '{' {
		return nil
	}
	if what, remedy := plainfile.StandIn(data); what != "" {
		e := malformed("", "not glTF but %s", what)
		e.Hint = remedy
		return e
	}
	head := string(data[:min(len(data), 64)])
	for _, f := range foreign {
		if strings.HasPrefix(head, f.magic) {
			e := malformed("", "not glTF but %s", f.name)
			e.Hint = f.hint
			return e
		}
	}
	return malformed("", "neither binary glTF (it does not start with \"glTF\") nor JSON (it does not start with \"{\")")
}
