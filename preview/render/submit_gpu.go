package render

import "github.com/untoldkit/untold/preview/internal/gpu"

// submission says what to draw of a list, and how.
type submission struct {
	from, until pass // main list only
	shadow      bool
	wires       bool
}

// submit issues the draws of a list, as few calls as states allow, and returns
// how many calls it took.
func (r *Renderer) submit(l *list, s submission) (calls int) {
	var st pipeline
	for i := 0; i < len(l.order); {
		it := l.at(i)
		p := pass(it.state >> keyPassShift)
		j := i + 1
		for j < len(l.order) && l.at(j).state == it.state && l.at(j).page == it.page {
			j++
		}
		if !s.shadow && (p < s.from || p >= s.until) {
			i = j
			continue
		}
		twice := p == passBlend && it.mesh.kind.doubleSided && !s.wires
		if twice {
			j = i + 1 // back then front, one after the other
		}
		r.setState(&st, it, p, s)
		if twice {
			r.device.Cull(gpu.CullFront)
			calls += r.issue(l, i, j)
			r.device.Cull(gpu.CullBack)
			st.sides = 0
		}
		calls += r.issue(l, i, j)
		i = j
	}
	r.setCoverage(&st, false) // or what follows, the glass, has it too
	return calls
}

// pipeline is what the last draw has set.
type pipeline struct {
	program  gpu.Program
	vao      gpu.VertexArray
	sides    int8 // 0 unknown, 1 front faces only, 2 both
	mirrored int8
	coverage bool
	textures binding // what is bound
	bound    uint32  // number of the binding that it is
	known    bool
}

// setState sets the pipeline for a draw.
func (r *Renderer) setState(st *pipeline, it *item, p pass, s submission) {
	if it.page.vao != st.vao {
		st.vao = it.page.vao
		r.device.BindVertexArray(st.vao)
	}
	program := r.programs.wire.Program
	switch {
	case s.shadow:
		program = r.programs.shadow[shadowKind(p)]
	case !s.wires:
		program = r.meshProgram(p, r.frame.shade)
	}
	if program != st.program {
		st.program = program
		r.device.UseProgram(program)
	}
	if bound := uint32(it.state >> keyBindingShift & keyBindingMask); (!st.known || st.bound != bound) && !s.wires && (!s.shadow || shadowKind(p)&shadowMasked != 0) {
		st.bound, st.known = bound, true
		r.textures.bind(bound, &st.textures)
	}
	if s.shadow {
		return
	}
	sides, mirrored := int8(1), int8(1)
	if it.mesh.kind.doubleSided || s.wires {
		sides = 2
	}
	if it.state>>keyMirrorShift&1 != 0 {
		mirrored = 2
	}
	if sides != st.sides {
		if st.sides = sides; sides == 2 {
			r.device.Cull(gpu.CullOff)
		} else {
			r.device.Cull(gpu.CullBack)
		}
	}
	if mirrored != st.mirrored {
		st.mirrored = mirrored
		r.device.Mirrored(mirrored == 2)
	}
	r.setCoverage(st, (p == passMask || p == passMaskDither) && r.options.Samples > 1 && !s.wires)
}

func (r *Renderer) setCoverage(st *pipeline, on bool) {
	if on != st.coverage {
		st.coverage = on
		r.device.AlphaToCoverage(on)
	}
}

// meshProgram returns the program of a pass; one that does not compile is
// reported once and replaced by the lit one.
func (r *Renderer) meshProgram(p pass, s shade) gpu.Program {
	name, err := r.programs.meshProgram(p, s)
	if err != nil {
		r.options.Logger.Error("a view cannot be shown", "error", err)
		return r.programs.replace(p, s)
	}
	return name
}

// issue draws records i to j of a list, which share their state.
func (r *Renderer) issue(l *list, i, j int) (calls int) {
	return r.device.DrawCommands(l.first+i, j-i, l.at(i).mesh.wide)
}
