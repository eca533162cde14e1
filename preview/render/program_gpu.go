package render

import (
	"embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

//go:embed shader/*.glsl
var shaderFiles embed.FS

// Texture units; those of the material's slots come first.
const (
	unitShadow    = slots
	unitObjects   = slots + 1
	unitDraws     = slots + 2
	unitMaterials = slots + 3
	unitAtlas     = slots + 4 // of the overlay
	unitGrade     = slots + 5
)

// samplers are the units of all sampler uniforms.
var samplers = map[string]int{
	"u_base": slotBase, "u_normal": slotNormal, "u_metallic": slotMetallic, "u_roughness": slotRoughness,
	"u_emissive": slotEmissive, "u_occlusion": slotOcclusion, "u_shadow": unitShadow,
	"u_objects": unitObjects, "u_draws": unitDraws, "u_materials": unitMaterials, "u_atlas": unitAtlas, "u_grade": unitGrade,
}

// programs compiles and keeps programs. Those of the lit view are made at the start:
// three that passes share, since a driver takes a tenth of a second for each, or one
// for each pass where a processor draws, which looks up no texel in vain then, and so
// are those of shadows. The others are made when they are first seen or by warm.
// Where the device makes programs beside frames, what no first picture needs follows it.
type programs struct {
	device  gpu.Device
	defines string
	shared  bool // by passes of the lit view
	coming
	mesh   [passes]gpu.Program
	debug  [meshKinds]gpu.Program
	graded bool // those of the lit view can use a colour table

	shadow              [shadowKinds]gpu.Program
	shadowLight         [shadowKinds]gpu.Location
	sky, overlay        gpu.Program
	line, wire          late
	skyDepth, wireColor gpu.Location // the second once there is wire
}

// meshKind is a program that passes share.
type meshKind int

const (
	kindOpaque meshKind = iota
	kindHoles           // fading, masked or both
	kindBlend
	meshKinds
)

// programOf returns the shared program of a pass. Meshes without textures have neutral
// ones bound.
func programOf(p pass) meshKind {
	switch p {
	case passOpaque, passOpaqueTextured:
		return kindOpaque
	case passBlend:
		return kindBlend
	}
	return kindHoles
}

// defines returns what the shaders are compiled with.
func (k meshKind) defines() map[string]bool {
	holes := k == kindHoles
	return map[string]bool{"TEXTURED": true, "DITHER": holes, "MASK": holes, "HOLES": holes, "BLEND": k == kindBlend}
}

// Programs of shadow maps are numbered by what leaves holes in them.
const (
	shadowMasked = 1 << iota
	shadowFading
	shadowKinds
)

// shadowKind returns the number of the program with which a pass casts shadows.
func shadowKind(p pass) (k int) {
	if p == passMask || p == passMaskDither {
		k |= shadowMasked
	}
	if p == passDither || p == passMaskDither {
		k |= shadowFading
	}
	return k
}

// newPrograms makes the programs, of shadows only if there are any.
func newPrograms(d gpu.Device, defines string, shared, shadows bool) (*programs, error) {
	p := &programs{device: d, defines: defines, shared: shared, coming: coming{late: d.Caps().LatePrograms}}
	if err := p.makeLit(); err != nil {
		return p, err
	}
	p.rest = append(p.rest, func() (gpu.Program, error) { return p.meshProgram(passBlend, shadeLit) })
	for k := 0; k < shadowKinds && shadows; k++ {
		p.rest = append(p.rest, func() (gpu.Program, error) { return p.shadowProgram(k) })
	}
	p.rest = append(p.rest, p.overlayProgram)
	if p.late {
		p.followSeldom()
		return p, nil
	}
	for len(p.rest) > 0 {
		if err := p.follow(); err != nil {
			return p, err
		}
	}
	return p, nil
}

// makeLit makes what no picture of the lit view can do without.
func (p *programs) makeLit() (err error) {
	if p.sky, err = p.build(skyVertex, skyFragment, p.litDefines(), p.late); err != nil {
		return err
	}
	p.skyDepth = p.device.Location(p.sky, "u_depth")
	p.wait(p.sky)
	for i := range passes {
		if i == passBlend {
			continue
		}
		made, err := p.meshProgram(i, shadeLit)
		if err != nil {
			return err
		}
		p.wait(made)
	}
	return nil
}

// litDefines returns what the shaders of the lit view are compiled with.
func (p *programs) litDefines() string {
	if p.graded {
		return p.defines + "#define GRADE\n"
	}
	return p.defines
}

// shadowProgram returns the shadow program of a number.
func (p *programs) shadowProgram(k int) (made gpu.Program, err error) {
	leaves, defines := k, "#define SHADOW\n"
	if p.shared && k > 0 {
		if k > 1 {
			p.shadow[k], p.shadowLight[k] = p.shadow[1], p.shadowLight[1]
			return p.shadow[1], nil
		}
		leaves, defines = shadowMasked|shadowFading, defines+"#define HOLES\n"
	}
	if leaves&shadowMasked != 0 {
		defines += "#define MASK\n"
	}
	if leaves&shadowFading != 0 {
		defines += "#define DITHER\n"
	}
	if made, err = p.build(meshVertex, []string{"material", "shadow.frag"}, defines, p.late); err == nil {
		p.shadow[k], p.shadowLight[k] = made, p.device.Location(made, "u_light")
	}
	return made, err
}

// overlayProgram returns the program of overlays.
func (p *programs) overlayProgram() (made gpu.Program, err error) {
	if p.overlay == 0 {
		p.overlay, err = p.build([]string{"frame", "overlay"}, []string{"overlay"}, "", p.late)
	}
	return p.overlay, err
}

// late is a program that is made when it is first asked for; 0 if it does not compile.
type late struct {
	gpu.Program
	failed bool
}

// make reports whether there is a program, which it makes at the first call.
func (l *late) make(p *programs, vertex, fragment []string, log *slog.Logger) bool {
	if l.Program == 0 && !l.failed {
		if err := l.build(p, vertex, fragment, false); err != nil {
			log.Error("lines cannot be shown", "error", err)
		}
	}
	return !l.failed
}

func (l *late) build(p *programs, vertex, fragment []string, later bool) (err error) {
	l.Program, err = p.build(vertex, fragment, "", later)
	l.failed = err != nil
	return err
}

// makeWire reports whether there is a program for edges.
func (p *programs) makeWire(log *slog.Logger) bool {
	isNew := p.wire.Program == 0
	if !p.wire.make(p, meshVertex, wireFragment, log) {
		return false
	}
	if isNew {
		p.findWire()
	}
	return true
}

func (p *programs) findWire() { p.wireColor = p.device.Location(p.wire.Program, "u_color") }

var (
	meshVertex, wireFragment           = []string{"frame", "mesh.vert"}, []string{"wire.frag"}
	lineVertexFiles, lineFragmentFiles = []string{"frame", "line"}, []string{"line"}
	skyVertex, skyFragment             = []string{"frame", "sky"}, []string{"frame", "light", "sky"}
)

// grade makes the programs of the lit view anew, so that they know the colour table:
// without one they have nothing of it. When that fails they stay as they are.
func (p *programs) grade() error {
	if p.graded {
		return nil
	}
	next := programs{device: p.device, defines: p.defines, shared: p.shared, graded: true, coming: coming{late: p.late}}
	err := next.makeLit()
	if err == nil && p.mesh[passBlend] != 0 {
		var blend gpu.Program
		if blend, err = next.meshProgram(passBlend, shadeLit); p.has(p.mesh[passBlend]) { // it is seen
			next.wait(blend)
		}
	}
	if err == nil {
		for k, name := range p.debug {
			if slices.Contains(p.mesh[:], name) { // see replace
				p.debug[k] = 0
			}
		}
		p.mesh, next.mesh = next.mesh, p.mesh
		p.sky, next.sky = next.sky, p.sky
		p.skyDepth = next.skyDepth
		p.graded, p.waits = true, next.waits
		if p.making != 0 && slices.Contains(next.mesh[:], p.making) {
			p.making = p.mesh[passBlend]
		}
	}
	p.drop(append(next.mesh[:], next.sky)) // those before, or what there is of the new ones
	return err
}

// meshProgram returns the program of a pass.
func (p *programs) meshProgram(i pass, s shade) (gpu.Program, error) {
	if s != shadeLit {
		return p.debugProgram(programOf(i), false)
	}
	if p.mesh[i] != 0 {
		return p.mesh[i], nil
	}
	var err error
	if !p.shared {
		p.mesh[i], err = p.linkMesh(map[string]bool{
			"TEXTURED": i != passOpaque && i != passDither,
			"DITHER":   i == passDither || i == passDitherTextured || i == passMaskDither,
			"MASK":     i == passMask || i == passMaskDither,
			"BLEND":    i == passBlend,
		}, p.late)
		return p.mesh[i], err
	}
	kind := programOf(i)
	made, err := p.linkMesh(kind.defines(), p.late)
	for j := range passes {
		if programOf(j) == kind {
			p.mesh[j] = made
		}
	}
	return made, err
}

// debugProgram returns a program of the views that are not lit; later is that of build.
func (p *programs) debugProgram(k meshKind, later bool) (gpu.Program, error) {
	if p.debug[k] != 0 {
		return p.debug[k], nil
	}
	var err error
	on := k.defines()
	on["DEBUG"] = true
	p.debug[k], err = p.linkMesh(on, later)
	return p.debug[k], err
}

// replace puts the lit program in the place of one that does not compile.
func (p *programs) replace(i pass, s shade) gpu.Program {
	if s != shadeLit {
		p.debug[programOf(i)] = p.mesh[i]
	}
	return p.mesh[i]
}

func (p *programs) linkMesh(on map[string]bool, later bool) (gpu.Program, error) {
	d := p.defines
	if !on["DEBUG"] {
		d = p.litDefines()
	}
	for _, name := range [...]string{"DEBUG", "TEXTURED", "DITHER", "MASK", "HOLES", "BLEND"} {
		if on[name] {
			d += "#define " + name + "\n"
		}
	}
	return p.build([]string{"frame", "mesh.vert"}, []string{"frame", "light", "material", "mesh.frag"}, d, later)
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
	for i, name := range p.shadow {
		if name == 0 {
			continue
		}
		l.Info("OpenGL program", "name", name, "is", [...]string{"shadow", "masked shadow", "fading shadow", "masked fading shadow"}[i])
	}
	for i, name := range [...]gpu.Program{p.sky, p.overlay} {
		l.Info("OpenGL program", "name", name, "is", [...]string{"sky", "overlay"}[i])
	}
}

func (p *programs) close() {
	p.drop(slices.Concat(p.mesh[:], p.debug[:], p.shadow[:], []gpu.Program{p.sky, p.overlay, p.line.Program, p.wire.Program}))
}

// drop deletes programs, each once; 0 is none.
func (p *programs) drop(names []gpu.Program) {
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name != 0 {
			p.device.DeleteProgram(name)
		}
	}
}

// build makes a program of the named files; later is whether it is not used before it is
// ready.
func (p *programs) build(vertex, fragment []string, defines string, later bool) (gpu.Program, error) {
	s := gpu.Source{Name: fmt.Sprint(fragment), Units: samplers, Block: "Frame", Later: later}
	var err error
	if s.Vertex, err = source(vertex, "#define VERTEX\n"+defines); err != nil {
		return 0, err
	}
	if s.Fragment, err = source(fragment, defines); err != nil {
		return 0, err
	}
	name, err := p.device.NewProgram(&s)
	if err != nil {
		return 0, fmt.Errorf("render: %w", err)
	}
	return name, nil
}

// source joins files.
func source(files []string, defines string) (string, error) {
	var out strings.Builder
	out.WriteString(defines)
	for i, name := range files {
		b, err := shaderFiles.ReadFile("shader/" + name + ".glsl")
		if err != nil {
			return "", fmt.Errorf("render: %w", err)
		}
		// Messages of the driver then name the file by its number.
		fmt.Fprintf(&out, "#line 1 %d\n%s\n", i, b)
	}
	return out.String(), nil
}
