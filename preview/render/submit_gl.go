//go:build cgo && !nopreview

package render

import (
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// submission says what to draw of a list, and how.
type submission struct {
	from, until pass // main list only
	shadow      bool
	wires       bool
}

// submit issues the draws of a list, as few calls as states allow, and returns
// how many calls it took.
func (r *Renderer) submit(l *list, s submission) (calls int) {
	var st glState
	st.reset()
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
			gl.Enable(gl.CULL_FACE)
			gl.CullFace(gl.FRONT)
			calls += r.issue(l, i, j)
			gl.CullFace(gl.BACK)
			st.sides = 0
		}
		calls += r.issue(l, i, j)
		i = j
	}
	return calls
}

// glState is what the last draw has set.
type glState struct {
	program  uint32
	vao      uint32
	sides    int8 // 0 unknown, 1 front faces only, 2 both
	mirrored int8
	coverage bool
	textures [slots]uint32
	set      *textureSet
	setKnown bool
}

func (st *glState) reset() {
	*st = glState{}
	gl.CullFace(gl.BACK)
}

// setState sets the pipeline for a draw.
func (r *Renderer) setState(st *glState, it *item, p pass, s submission) {
	if it.page.vao != st.vao {
		st.vao = it.page.vao
		gl.BindVertexArray(st.vao)
	}
	program := r.programs.wire
	switch {
	case s.shadow && p == passMask:
		program = r.programs.shadowMask
	case s.shadow:
		program = r.programs.shadow
	case !s.wires:
		program = r.meshProgram(p, r.frame.shade)
	}
	if program != st.program {
		st.program = program
		gl.UseProgram(program)
	}
	if (!st.setKnown || st.set != it.mesh.set) && !s.wires && (!s.shadow || p == passMask) {
		st.set, st.setKnown = it.mesh.set, true
		r.textures.bind(it.mesh.set, &st.textures)
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
			gl.Disable(gl.CULL_FACE)
		} else {
			gl.Enable(gl.CULL_FACE)
		}
	}
	if mirrored != st.mirrored {
		if st.mirrored = mirrored; mirrored == 2 {
			gl.FrontFace(gl.CW)
		} else {
			gl.FrontFace(gl.CCW)
		}
	}
	r.setCoverage(st, (p == passMask || p == passMaskDither) && r.options.Samples > 1 && !s.wires)
}

func (r *Renderer) setCoverage(st *glState, on bool) {
	if on == st.coverage {
		return
	}
	if st.coverage = on; on {
		gl.Enable(gl.SAMPLE_ALPHA_TO_COVERAGE)
	} else {
		gl.Disable(gl.SAMPLE_ALPHA_TO_COVERAGE)
	}
}

// meshProgram returns the program of a pass; one that does not compile is
// reported once and replaced by the lit one.
func (r *Renderer) meshProgram(p pass, s shade) uint32 {
	name, err := r.programs.meshProgram(p, s)
	if err != nil {
		r.options.Logger.Error("a view cannot be shown", "error", err)
		return r.programs.replace(p, s)
	}
	return name
}

// issue draws records i to j of a list, which share their state.
func (r *Renderer) issue(l *list, i, j int) (calls int) {
	kind, size := uint32(gl.UNSIGNED_SHORT), uintptr(2)
	if l.at(i).mesh.wide {
		kind, size = gl.UNSIGNED_INT, 4
	}
	if r.info.MultiDraw {
		multiDraw(kind, 4*commandWords*(l.first+i), int32(j-i))
		return 1
	}
	for ; i < j; i++ {
		it := l.at(i)
		gl.VertexAttribI1ui(attribDraw, uint32(l.first+i))
		gl.DrawElementsBaseVertexWithOffset(gl.TRIANGLES, int32(it.indexCount), kind, uintptr(it.firstIndex)*size, it.mesh.baseVertex)
		calls++
	}
	return calls
}

// multiDraw draws n commands from an offset in the bound indirect buffer. The
// bindings want the offset as a pointer, which pointer checking takes for a bad
// one.
//
//go:nocheckptr
func multiDraw(kind uint32, offset int, n int32) {
	gl.MultiDrawElementsIndirect(gl.TRIANGLES, kind, unsafe.Add(unsafe.Pointer(nil), offset), n, 0)
}
