package meshfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// objReader reads an OBJ file.
type objReader struct {
	*soup
	beside      files
	lines       *lines
	name, group string // of o and g
	libraries   map[string]bool
	usedAt      []int // by materials: the line that first uses each
	top         [3]reference
	corners     []corner
}

// reference is the largest index of a kind, and the line that names it.
type reference struct {
	index uint32
	line  int
}

// What corners refer to, in their order.
var referenceNames = [3]string{"vertex", "texture coordinate", "normal"}

func readOBJ(s *soup, in io.Reader, beside files) error {
	r := &objReader{soup: s, beside: beside, lines: newLines(in, true), libraries: map[string]bool{}}
	s.want.smooth = smooth
	for {
		b, err := r.lines.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.statement(b)
		}
		if err != nil {
			return r.placed(err)
		}
		if r.lines.number%8192 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
	}
	counts := [3]int64{s.positions.n, s.texcoords.n, s.normals.n}
	for i, t := range r.top {
		if int64(t.index) > counts[i] {
			return malformed(line(t.line), "%s %d is named, the file has %d", referenceNames[i], t.index, counts[i])
		}
	}
	for i, u := range r.usedAt {
		if s.library[s.materials[i]] == nil {
			s.note("materials-undefined", true, line(u), "materials that no MTL file defines are plain")
		}
	}
	return nil
}

// placed gives an error the line, unless it has a place.
func (r *objReader) placed(err error) error {
	var e *gltfscene.Error
	if !errors.As(err, &e) || e.Place != "" {
		return err
	}
	return within(line(r.lines.number), err)
}

// statement reads one line.
func (r *objReader) statement(b []byte) error {
	w, rest := word(b)
	if len(w) == 0 || w[0] == '#' {
		return nil
	}
	switch string(w) {
	case "v":
		return r.vertex(rest)
	case "vt":
		v, n, err := r.numbers(rest, "vt", 1, 3)
		if err != nil {
			return err
		}
		if n < 2 {
			v[1] = 0
		}
		return r.addTexcoord(v[0], v[1])
	case "vn":
		v, _, err := r.numbers(rest, "vn", 3, 3)
		if err != nil {
			return err
		}
		return r.addNormal([3]float64{v[0], v[1], v[2]})
	case "f", "fo":
		return r.face(rest)
	case "o", "g":
		name, err := nameIn(rest)
		if err != nil {
			return err
		}
		if w[0] == 'o' {
			r.name, r.group = name, ""
		} else {
			r.group = strings.Join(strings.Fields(name), " ")
		}
		return r.rename()
	case "usemtl":
		name, err := nameIn(rest)
		if err != nil {
			return err
		}
		r.want.material = r.material(name)
		if int(r.want.material) > len(r.usedAt) {
			if len(r.usedAt) == maxMaterials {
				return &gltfscene.Error{Reason: fmt.Sprintf("there are more than %d materials", maxMaterials), Err: gltfscene.ErrTooLarge}
			}
			r.usedAt = append(r.usedAt, r.lines.number)
		}
	case "mtllib":
		return r.mtllib(rest)
	case "s":
		w, _ := word(rest)
		v, ok := parseInt(w)
		switch {
		case string(w) == "off" || ok && v == 0:
			r.want.smooth = flat
		case ok && v > 0 && v < smooth:
			r.want.smooth = uint32(v)
		case string(w) == "on":
			r.want.smooth = 1
		default:
			return malformed("", "s wants the number of a smoothing group or off, not %q", clip(w))
		}
	case "l", "p":
		r.note("lines-skipped", false, line(r.lines.number), "lines and points are not cooked")
	case "vp", "deg", "bmat", "step", "cstype", "curv", "curv2", "surf", "parm", "trim", "hole", "scrv", "sp", "end", "con":
		r.note("free-forms-skipped", true, line(r.lines.number), "statements of curves and free-form surfaces were left out: export triangles")
	case "mg", "bevel", "c_interp", "d_interp", "lod", "shadow_obj", "trace_obj", "ctech", "stech", "maplib", "usemap", "res":
	case "call", "csh":
		r.note("calls-skipped", true, line(r.lines.number), "other files and commands that the file calls were left out")
	default:
		if bytes.IndexByte(b, 0) >= 0 {
			e := malformed("", "this is no text")
			e.Hint = "is it an object file of a compiler, which has the same ending?"
			return e
		}
		r.note("statements-unknown", true, line(r.lines.number), "statements that are unknown were left out")
	}
	return nil
}

// rename makes the faces that come those of an object: a name and a group within it.
func (r *objReader) rename() error {
	name := r.name
	switch {
	case name == "" || name == r.group:
		name = r.group
	case r.group != "" && r.group != "default" && r.group != "(null)" && r.group != "off":
		name += "_" + r.group
	}
	if r.running < 0 && r.current < 0 && name == "" {
		return nil
	}
	r.rest()
	return r.begin(name)
}

// rest forgets a name that was followed by no face: exporters write o and g, one after the
// other.
func (r *objReader) rest() {
	last := len(r.objects) - 1
	if last >= 0 && r.current == last && r.objects[last].triangles == 0 && len(r.objects[last].runs) == 0 {
		delete(r.byName, r.objects[last].name)
		r.objects, r.current = r.objects[:last], -1
	}
}

// numbers reads from least to most numbers; what follows those is left out. n is how many
// there are.
func (r *objReader) numbers(b []byte, key string, least, most int) (v [8]float64, n int, err error) {
	for n < most {
		var w []byte
		if w, b = word(b); len(w) == 0 || w[0] == '#' {
			break
		}
		var ok bool
		if v[n], ok = parseFloat(w); !ok {
			return v, n, malformed("", "%s wants numbers, not %q", key, clip(w))
		}
		n++
	}
	if n < least {
		return v, n, malformed("", "%s has %d numbers, it needs %d", key, n, least)
	}
	return v, n, nil
}

// vertex reads a position, perhaps with a weight, which says nothing of polygons, or with
// a colour.
func (r *objReader) vertex(b []byte) error {
	v, n, err := r.numbers(b, "v", 3, 8)
	if err != nil {
		return err
	}
	if err := r.addPosition([3]float64{v[0], v[1], v[2]}); err != nil {
		return err
	}
	if n < 6 {
		return nil
	}
	scale := 255.0
	if max(v[3], v[4], v[5]) > 1 {
		scale = 1 // some programs count to 255
	}
	c := [4]uint8{0, 0, 0, 255}
	for i := range 3 {
		c[i] = colorByte(v[3+i] * scale)
	}
	return r.addColor(c)
}

// colorByte rounds to a byte.
func colorByte(v float64) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(v, 255) + 0.5)
}

// face reads a polygon.
func (r *objReader) face(b []byte) error {
	list := r.corners[:0]
	for {
		var w []byte
		if w, b = word(b); len(w) == 0 || w[0] == '#' {
			break
		}
		c, err := r.corner(w)
		if err != nil {
			return err
		}
		if len(list) == maxCorners {
			return malformed("", "a face has more than %d corners", maxCorners)
		}
		list = append(list, c)
	}
	r.corners = list
	if len(list) < 3 {
		r.note("faces-incomplete", true, line(r.lines.number), "faces of fewer than three corners were left out")
		return nil
	}
	return r.addFace(list)
}

// corner reads v, v/t, v//n or v/t/n.
func (r *objReader) corner(w []byte) (c corner, err error) {
	to := [3]*uint32{&c.v, &c.t, &c.n}
	counts := [3]int64{r.positions.n, r.texcoords.n, r.normals.n}
	left := w
	for i := 0; ; i++ {
		if i == 3 {
			return c, malformed("", "corner %q has more than three numbers", clip(w))
		}
		part := left
		slash := bytes.IndexByte(left, '/')
		if slash >= 0 {
			part, left = left[:slash], left[slash+1:]
		}
		if len(part) > 0 {
			v, ok := parseInt(part)
			switch {
			case !ok:
				return c, malformed("", "corner %q is not of the form v, v/vt, v//vn or v/vt/vn", clip(w))
			case v < 0 && -v > counts[i]:
				return c, malformed("", "%s %d is named, %d came before it", referenceNames[i], v, counts[i])
			case v < 0:
				v += counts[i] + 1
			case v == 0:
				return c, malformed("", "%s 0 is named, they count from 1", referenceNames[i])
			case v > maxRecords:
				return c, malformed("", "%s %d is named, there can be no more than %d", referenceNames[i], v, int64(maxRecords))
			}
			*to[i] = uint32(v)
			if t := &r.top[i]; uint32(v) > t.index {
				t.index, t.line = uint32(v), r.lines.number
			}
		}
		if slash < 0 {
			break
		}
	}
	if c.v == 0 {
		return c, malformed("", "corner %q names no vertex", clip(w))
	}
	return c, nil
}

// mtllib reads the MTL files that a statement names: one name that may have spaces, or
// several.
func (r *objReader) mtllib(b []byte) error {
	whole := strings.Trim(string(trim(b)), `"`)
	if whole == "" || len(whole) > maxLibraries*maxName {
		return malformed("", "mtllib names no file, or too many")
	}
	names := []string{whole}
	if tidy, _, err := tidyName(".", whole, r.opts.AllowParentPaths); err != nil || r.beside.find(tidy) == "" {
		if list := strings.Fields(whole); len(list) > 1 && strings.HasSuffix(strings.ToLower(list[0]), ".mtl") {
			names = list
		}
	}
	for _, name := range names {
		tidy, absolute, err := tidyName(".", name, r.opts.AllowParentPaths)
		if err != nil {
			return &gltfscene.Error{
				Reason: fmt.Sprintf("mtllib names %q, which %v", clip([]byte(name)), err),
				Hint:   "Options.AllowParentPaths permits it for files that you trust", Err: gltfscene.ErrOutsideFolder,
			}
		}
		if absolute {
			r.note("absolute-names", false, line(r.lines.number), "files are named by a path of another machine; they were looked for beside the file that names them")
		}
		if found := r.beside.find(tidy); found != "" {
			tidy = found
		}
		if tidy = path.Clean(tidy); r.libraries[tidy] {
			continue
		}
		if r.libraries[tidy] = true; len(r.libraries) > maxLibraries {
			return &gltfscene.Error{Reason: fmt.Sprintf("names more than %d MTL files", maxLibraries), Err: gltfscene.ErrTooLarge}
		}
		if err := r.readMTL(tidy, line(r.lines.number), r.beside); err != nil {
			return err
		}
	}
	return nil
}

// maxLibraries is how many MTL files a mesh file may name.
const maxLibraries = 1024
