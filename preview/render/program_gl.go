//go:build cgo && !nopreview

package render

import (
	"embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/go-gl/gl/v4.1-core/gl"
)

//go:embed shader/*.glsl
var shaderFiles embed.FS

// Texture units; those of the material's slots come first.
const (
	unitShadow    = slots
	unitObjects   = slots + 1
	unitDraws     = slots + 2
	unitMaterials = slots + 3
	unitScratch   = slots + 4 // for uploads and the overlay's atlas
)

// samplers are the units of all sampler uniforms.
var samplers = map[string]int32{
	"u_base": slotBase, "u_normal": slotNormal, "u_metallic": slotMetallic, "u_roughness": slotRoughness,
	"u_emissive": slotEmissive, "u_occlusion": slotOcclusion, "u_shadow": unitShadow,
	"u_objects": unitObjects, "u_draws": unitDraws, "u_materials": unitMaterials, "u_atlas": unitScratch,
}

// programs compiles and keeps programs. Meshes need one for each pass of the lit
// view, which are made at the start, and three for all other views, which are
// made when they are first seen or by warm. Those are few, since time that they
// take at the start would be lost to most.
type programs struct {
	defines string
	mesh    [passes]uint32
	debug   [debugKinds]uint32

	shadow, shadowMask           uint32
	shadowLight, shadowMaskLight int32 // uniform locations
	sky, line, overlay, wire     uint32
	skyDepth, wireColor          int32
}

// debugKind is a program of the views that are not lit.
type debugKind int

const (
	debugOpaque debugKind = iota
	debugHoles            // fading, masked or both
	debugBlend
	debugKinds
)

// debugKindOf returns the program of a pass in views that are not lit. Meshes
// without textures have neutral ones bound.
func debugKindOf(p pass) debugKind {
	switch p {
	case passOpaque, passOpaqueTextured:
		return debugOpaque
	case passBlend:
		return debugBlend
	}
	return debugHoles
}

func newPrograms(defines string) (*programs, error) {
	p := &programs{defines: defines}
	for i := range passes {
		if _, err := p.meshProgram(i, shadeLit); err != nil {
			return p, err
		}
	}
	var err error
	link := func(dst *uint32, vertex, fragment []string, defines string) {
		if err == nil {
			*dst, err = build(vertex, fragment, defines)
		}
	}
	mesh := []string{"frame", "mesh.vert"}
	link(&p.shadow, mesh, []string{"shadow.frag"}, "#define SHADOW\n")
	link(&p.shadowMask, mesh, []string{"material", "shadow.frag"}, "#define SHADOW\n#define MASK\n")
	link(&p.sky, []string{"frame", "sky"}, []string{"frame", "light", "sky"}, defines)
	link(&p.wire, mesh, []string{"wire.frag"}, "")
	link(&p.line, []string{"frame", "line"}, []string{"line"}, "")
	link(&p.overlay, []string{"frame", "overlay"}, []string{"overlay"}, "")
	if err != nil {
		return p, err
	}
	p.shadowLight = gl.GetUniformLocation(p.shadow, gl.Str("u_light\x00"))
	p.shadowMaskLight = gl.GetUniformLocation(p.shadowMask, gl.Str("u_light\x00"))
	p.skyDepth = gl.GetUniformLocation(p.sky, gl.Str("u_depth\x00"))
	p.wireColor = gl.GetUniformLocation(p.wire, gl.Str("u_color\x00"))
	return p, nil
}

// meshProgram returns the program of a pass.
func (p *programs) meshProgram(i pass, s shade) (uint32, error) {
	if s != shadeLit {
		return p.debugProgram(debugKindOf(i))
	}
	if p.mesh[i] != 0 {
		return p.mesh[i], nil
	}
	var err error
	p.mesh[i], err = p.linkMesh(map[string]bool{
		"TEXTURED": i != passOpaque && i != passDither,
		"DITHER":   i == passDither || i == passDitherTextured || i == passMaskDither,
		"MASK":     i == passMask || i == passMaskDither,
		"BLEND":    i == passBlend,
	})
	return p.mesh[i], err
}

func (p *programs) debugProgram(k debugKind) (uint32, error) {
	if p.debug[k] != 0 {
		return p.debug[k], nil
	}
	var err error
	p.debug[k], err = p.linkMesh(map[string]bool{
		"DEBUG": true, "TEXTURED": true, "DITHER": k == debugHoles, "MASK": k == debugHoles, "BLEND": k == debugBlend,
	})
	return p.debug[k], err
}

// replace puts the lit program in the place of one that does not compile.
func (p *programs) replace(i pass, s shade) uint32 {
	if s != shadeLit {
		p.debug[debugKindOf(i)] = p.mesh[i]
	}
	return p.mesh[i]
}

func (p *programs) linkMesh(on map[string]bool) (uint32, error) {
	d := p.defines
	for _, name := range [...]string{"DEBUG", "TEXTURED", "DITHER", "MASK", "BLEND"} {
		if on[name] {
			d += "#define " + name + "\n"
		}
	}
	return build([]string{"frame", "mesh.vert"}, []string{"frame", "light", "material", "mesh.frag"}, d)
}

// log writes the names of the programs, by which drivers call them in messages.
func (p *programs) log(l *slog.Logger) {
	for i, name := range p.mesh {
		l.Info("OpenGL program", "name", name, "is", fmt.Sprintf("mesh, pass %d", i))
	}
	for i, name := range p.debug {
		if name != 0 {
			l.Info("OpenGL program", "name", name, "is", fmt.Sprintf("mesh, not lit, %d", i))
		}
	}
	for i, name := range [...]uint32{p.shadow, p.shadowMask, p.sky, p.line, p.overlay, p.wire} {
		l.Info("OpenGL program", "name", name, "is", [...]string{"shadow", "masked shadow", "sky", "line", "overlay", "wire"}[i])
	}
}

func (p *programs) close() {
	for _, name := range slices.Concat(p.mesh[:], p.debug[:]) {
		gl.DeleteProgram(name)
	}
	for _, name := range [...]uint32{p.shadow, p.shadowMask, p.sky, p.line, p.overlay, p.wire} {
		gl.DeleteProgram(name)
	}
}

// build compiles and links a program of the named files.
func build(vertex, fragment []string, defines string) (uint32, error) {
	v, err := compile(gl.VERTEX_SHADER, vertex, "#define VERTEX\n"+defines)
	if err != nil {
		return 0, err
	}
	defer gl.DeleteShader(v)
	f, err := compile(gl.FRAGMENT_SHADER, fragment, defines)
	if err != nil {
		return 0, err
	}
	defer gl.DeleteShader(f)
	p := gl.CreateProgram()
	gl.AttachShader(p, v)
	gl.AttachShader(p, f)
	gl.LinkProgram(p)
	var ok int32
	if gl.GetProgramiv(p, gl.LINK_STATUS, &ok); ok == 0 {
		var n int32
		gl.GetProgramiv(p, gl.INFO_LOG_LENGTH, &n)
		log := strings.Repeat("\x00", int(n)+1)
		gl.GetProgramInfoLog(p, n, nil, gl.Str(log))
		gl.DeleteProgram(p)
		return 0, fmt.Errorf("render: link %v: %s", fragment, clean(log))
	}
	gl.UseProgram(p)
	for name, unit := range samplers {
		if at := gl.GetUniformLocation(p, gl.Str(name+"\x00")); at >= 0 {
			gl.Uniform1i(at, unit)
		}
	}
	if block := gl.GetUniformBlockIndex(p, gl.Str("Frame\x00")); block != gl.INVALID_INDEX {
		gl.UniformBlockBinding(p, block, 0)
	}
	return p, nil
}

func compile(kind uint32, files []string, defines string) (uint32, error) {
	var source strings.Builder
	source.WriteString("#version 410 core\n" + defines)
	for i, name := range files {
		b, err := shaderFiles.ReadFile("shader/" + name + ".glsl")
		if err != nil {
			return 0, fmt.Errorf("render: %w", err)
		}
		// Messages of the driver then name the file by its number.
		fmt.Fprintf(&source, "#line 1 %d\n%s\n", i, b)
	}
	s := gl.CreateShader(kind)
	text, free := gl.Strs(source.String() + "\x00")
	gl.ShaderSource(s, 1, text, nil)
	free()
	gl.CompileShader(s)
	var ok int32
	if gl.GetShaderiv(s, gl.COMPILE_STATUS, &ok); ok != 0 {
		return s, nil
	}
	var n int32
	gl.GetShaderiv(s, gl.INFO_LOG_LENGTH, &n)
	log := strings.Repeat("\x00", int(n)+1)
	gl.GetShaderInfoLog(s, n, nil, gl.Str(log))
	gl.DeleteShader(s)
	return 0, fmt.Errorf("render: compile %v: %s", files, clean(log))
}

func clean(log string) string { return strings.TrimSpace(strings.TrimRight(log, "\x00")) }
