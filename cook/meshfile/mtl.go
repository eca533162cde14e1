package meshfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
)

// maxMaterials is how many materials the MTL files of a scene may have.
const maxMaterials = 1 << 16

// mtlReader reads an MTL file.
type mtlReader struct {
	*soup
	name    string // relative to the mesh file's folder
	beside  files
	m       *material // nil before the first, and in one that is known already
	maps    map[string]string
	opacity string
	lines   *lines
}

// readMTL reads an MTL file that the mesh names, if it has not been read.
func (s *soup) readMTL(name, place string, beside files) error {
	f, at, err := beside.open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && s.opts.AllowMissing {
			s.note("materials-missing", true, place, "MTL files that are missing were left out: their materials are plain")
			return nil
		}
		e := &gltfscene.Error{Place: place, Reason: fmt.Sprintf("file %q cannot be read: %v", name, plainReason(err)), Err: errors.Join(gltfscene.ErrMissingFile, err)}
		if errors.Is(err, fs.ErrNotExist) {
			e.Reason = fmt.Sprintf("file %q is missing", name)
			e.Hint = "put it there, or leave it out with Options.AllowMissingImages"
		}
		return e
	}
	defer f.Close()
	s.sources = append(s.sources, at)
	r := &mtlReader{soup: s, name: name, beside: beside, lines: newLines(f, true)}
	for {
		b, err := r.lines.next()
		if err == io.EOF {
			r.finish()
			return nil
		}
		if err == nil {
			err = r.statement(b)
		}
		if err != nil {
			return within(name, err)
		}
		if r.lines.number%4096 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
	}
}

// plainReason is an error of a file without the name.
func plainReason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// within puts the name of another file before the place of an error.
func within(name string, err error) error {
	var e *gltfscene.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	if c.Place = name; e.Place != "" {
		c.Place += ": " + e.Place
	}
	return &c
}

func (r *mtlReader) place() string { return r.name + ": " + line(r.lines.number) }

// statement reads one line.
func (r *mtlReader) statement(b []byte) error {
	w, rest := word(b)
	if len(w) == 0 || w[0] == '#' {
		return nil
	}
	key := strings.ToLower(string(w))
	if key == "newmtl" {
		r.finish()
		name, err := nameIn(rest)
		if err != nil {
			return within(line(r.lines.number), err)
		}
		if r.m = nil; r.library[name] != nil {
			return nil // the first one counts
		}
		if len(r.library) == maxMaterials {
			return &gltfscene.Error{Place: line(r.lines.number), Reason: fmt.Sprintf("there are more than %d materials", maxMaterials), Err: gltfscene.ErrTooLarge}
		}
		r.m = newMaterial(name)
		r.library[name] = r.m
		r.maps = map[string]string{}
		return nil
	}
	if r.m == nil {
		return nil
	}
	m := r.m
	switch key {
	case "kd":
		return r.colors(rest, key, &m.color)
	case "ke":
		return r.colors(rest, key, &m.emissive)
	case "ks":
		var ks [3]float64
		if err := r.colors(rest, key, &ks); err != nil {
			return err
		}
		m.given["shiny"] = max(ks[0], ks[1], ks[2]) > 0
	case "d", "tr":
		// "d -halo 0.5" fades with the angle, which is left out.
		if next, after := word(rest); string(next) == "-halo" {
			rest = after
		}
		v, err := r.value(rest, key)
		if err != nil {
			return err
		}
		if key == "tr" {
			if m.given["d"] {
				return nil // both are there, and some programs write the wrong one
			}
			v = 1 - v
		}
		m.alpha, m.given[key] = min(max(v, 0), 1), true
	case "pr", "pm", "ns":
		v, err := r.value(rest, key)
		if err != nil {
			return err
		}
		switch m.given[key] = true; key {
		case "pr":
			m.roughness = min(max(v, 0), 1)
		case "pm":
			m.metallic = min(max(v, 0), 1)
		default:
			if !m.given["pr"] {
				// The width of a Blinn-Phong highlight as roughness, alpha squared.
				m.roughness = math.Sqrt(math.Sqrt(2 / (max(v, 0) + 2)))
			}
		}
	case "map_kd", "map_ke", "map_pr", "map_pm", "map_bump", "bump", "norm", "map_kn", "map_d":
		return r.texture(key, rest)
	case "map_ka", "map_ks", "map_ns", "disp", "map_disp", "decal", "refl", "map_refl", "map_ps", "map_tr":
		r.note("mtl-maps-skipped", false, r.place(), "textures of highlights, ambient light, height and reflections were left out")
	case "ka", "tf", "ni", "illum", "sharpness", "km", "map_aat", "aniso", "anisor":
	case "ps", "pc", "pcr":
		r.note("mtl-shading-skipped", false, r.place(), "sheen and clear coat are not cooked")
	}
	return nil
}

// value reads a number.
func (r *mtlReader) value(b []byte, key string) (float64, error) {
	w, _ := word(b)
	v, ok := parseFloat(w)
	if !ok {
		return 0, malformed(line(r.lines.number), "%s wants a number, not %q", key, clip(w))
	}
	return v, nil
}

// colors reads three numbers, or one for all.
func (r *mtlReader) colors(b []byte, key string, to *[3]float64) error {
	first, rest := word(b)
	if s := string(first); s == "spectral" || s == "xyz" {
		r.note("mtl-colors-skipped", true, r.place(), "colours as a spectrum or in XYZ were left out")
		return nil
	}
	v, ok := parseFloat(first)
	if !ok {
		return malformed(line(r.lines.number), "%s wants numbers, not %q", key, clip(first))
	}
	out := [3]float64{v, v, v}
	for i := 1; i < 3; i++ {
		var w []byte
		if w, rest = word(rest); len(w) == 0 && i == 1 {
			break
		}
		if out[i], ok = parseFloat(w); !ok {
			return malformed(line(r.lines.number), "%s wants three numbers, not %q", key, clip(w))
		}
	}
	for i := range out {
		out[i] = min(max(out[i], 0), 1e6)
		if key != "ke" {
			out[i] = min(out[i], 1)
		}
	}
	*to, r.m.given[key] = out, true
	return nil
}

// optionWords are how many words follow the options of textures; -o, -s and -t take one to
// three numbers.
var optionWords = map[string]int{
	"-blendu": 1, "-blendv": 1, "-cc": 1, "-clamp": 1, "-bm": 1, "-boost": 1, "-mm": 2, "-texres": 1, "-imfchan": 1, "-type": 1,
	"-o": 3, "-s": 3, "-t": 3,
}

// textureOptions are what stands before the name of an image.
type textureOptions struct {
	textureSlot
	bump    float64
	skipped bool // some that are not cooked
}

// textureName cuts options off the name of an image, which may have spaces.
func textureName(b []byte) (string, textureOptions) {
	t := textureOptions{textureSlot: textureSlot{scale: [2]float64{1, 1}}, bump: 1}
	for {
		w, rest := word(b)
		if len(w) == 0 || w[0] != '-' {
			break
		}
		option := strings.ToLower(string(w))
		n, ok := optionWords[option]
		if !ok {
			break // a name that begins so
		}
		var v [3]float64
		got := 0
		for ; got < n; got++ {
			w, after := word(rest)
			num, ok := parseFloat(w)
			if n == 3 && (!ok || len(trim(after)) == 0) {
				break // the name
			}
			if v[got] = num; option == "-clamp" {
				t.clamp = strings.EqualFold(string(w), "on")
			}
			rest = after
		}
		switch option {
		case "-bm":
			t.bump = v[0]
		case "-o":
			copy(t.offset[:], v[:2])
		case "-s":
			copy(t.scale[:], v[:min(got, 2)])
		case "-t", "-mm", "-imfchan":
			t.skipped = true
		}
		b = rest
	}
	return strings.Trim(string(trim(b)), `"`), t
}

// texture reads a statement that names an image.
func (r *mtlReader) texture(key string, b []byte) error {
	name, opts := textureName(b)
	if opts.skipped {
		r.note("mtl-options-skipped", false, r.place(), "turbulence, gain and channels of textures are not cooked")
	}
	t, bump := &opts.textureSlot, opts.bump
	if name == "" || len(name) > maxName {
		return malformed(line(r.lines.number), "%s names no file, or one with more than %d letters", key, maxName)
	}
	uri, err := r.image(name)
	if err != nil {
		return err
	}
	m := r.m
	if key == "map_d" {
		r.opacity = uri
		return nil
	}
	r.maps[key] = uri
	if key == "map_bump" || key == "bump" {
		if !namesNormals(uri) {
			r.note("mtl-heights-skipped", false, r.place(), "height maps were left out: names of normal maps say so, such as wood_normal.png")
			return nil
		}
	}
	if (key == "map_pr" || key == "map_pm") && r.maps["map_pr"] != r.maps["map_pm"] {
		return nil // until the other one is the same, see finish
	}
	t.image = r.images.add(uri, r.place()+": "+key)
	switch key {
	case "map_kd":
		m.base = t
	case "map_ke":
		m.glow = t
	case "map_pr", "map_pm":
		m.roughMetal = t
	default:
		if m.normal == nil || key == "norm" {
			m.normal, m.bumpScale = t, bump
		}
	}
	return nil
}

// image finds an image by the name that the file has for it.
func (r *mtlReader) image(name string) (string, error) {
	tidy, absolute, err := tidyName(path.Dir(r.name), name, r.opts.AllowParentPaths)
	if err != nil {
		return "", &gltfscene.Error{
			Place: line(r.lines.number), Reason: fmt.Sprintf("the name %q %v", clip([]byte(name)), err),
			Hint: "Options.AllowParentPaths permits it for files that you trust", Err: gltfscene.ErrOutsideFolder,
		}
	}
	if absolute {
		r.note("absolute-names", false, r.place(), "files are named by a path of another machine; they were looked for beside the file that names them")
	}
	if found := r.beside.find(tidy); found != "" {
		return found, nil
	}
	return tidy, nil // the import says that it is missing, unless that is allowed
}

// namesNormals tells normal maps from height maps, for which OBJ has one statement that
// programs write for both.
func namesNormals(name string) bool {
	stem := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if strings.Contains(stem, "normal") || strings.Contains(stem, "nrm") {
		return true
	}
	for _, part := range strings.FieldsFunc(stem, func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }) {
		switch part {
		case "n", "nor", "norm", "nm", "ddn":
			return true
		}
	}
	return false
}

// finish ends a material.
func (r *mtlReader) finish() {
	m := r.m
	if m == nil {
		return
	}
	if m.base != nil {
		if m.color == [3]float64{} { // some programs write so where the texture is all
			m.color = [3]float64{1, 1, 1}
			r.note("mtl-black-lifted", false, m.name, "black colours of materials with a texture were taken as white")
		}
	}
	if m.alpha == 0 { // nobody models what cannot be seen
		m.alpha = 1
		r.note("mtl-invisible", true, m.name, "materials that are wholly transparent (d 0) were taken as opaque")
	}
	switch {
	case r.opacity == "":
	case r.opacity == r.maps["map_kd"]:
		m.cutOut = true
	default:
		r.note("mtl-opacity-skipped", true, m.name, "textures of opacity were left out: put them into the alpha channel of map_Kd's image and name that as map_d")
	}
	if rough, metal := r.maps["map_pr"], r.maps["map_pm"]; m.roughMetal != nil && rough == metal {
		// The image has both, roughness in green and metalness in blue; factors multiply.
		if !m.given["pr"] {
			m.roughness = 1
		}
		if !m.given["pm"] {
			m.metallic = 1
		}
	} else if rough != "" || metal != "" {
		m.roughMetal = nil
		r.note("mtl-pbr-skipped", true, m.name, "textures of roughness and metalness were left out: name one image as both, with roughness in green and metalness in blue")
	}
	if m.glow != nil && !m.given["ke"] {
		m.emissive = [3]float64{1, 1, 1}
	}
	if m.given["ns"] && !m.given["pr"] && !m.given["shiny"] {
		m.roughness = 1 // of a highlight that is not there
	}
	r.m, r.opacity = nil, ""
}

// clip shortens text of the file.
func clip(b []byte) string {
	if len(b) > 60 {
		return string(b[:60]) + "..."
	}
	return string(b)
}
