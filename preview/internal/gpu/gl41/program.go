//go:build cgo && !nopreview

package gl41

import (
	"fmt"
	"strings"

	"github.com/go-gl/gl/v4.1-core/gl"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// prologue is what sources need beside GLSL 4.10.
const prologue = `#version 410 core
#define TABLE samplerBuffer
#define UTABLE usamplerBuffer
#define FETCH(table, i) texelFetch(table, i)
#define LEVEL(map, uv) textureQueryLod(map, uv).x
#define RECORD_INPUT layout(location = 5) in uint a_draw
#define RECORD int(a_draw)
`

// NewProgram compiles and links a program.
func (d *Device) NewProgram(s *gpu.Source) (gpu.Program, error) {
	v, err := compile(gl.VERTEX_SHADER, s.Name, s.Vertex)
	if err != nil {
		return 0, err
	}
	defer gl.DeleteShader(v)
	f, err := compile(gl.FRAGMENT_SHADER, s.Name, s.Fragment)
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
		return 0, fmt.Errorf("link %s: %s", s.Name, clean(log))
	}
	gl.UseProgram(p)
	for name, unit := range s.Units {
		if at := gl.GetUniformLocation(p, gl.Str(name+"\x00")); at >= 0 {
			gl.Uniform1i(at, int32(unit))
		}
	}
	if block := gl.GetUniformBlockIndex(p, gl.Str(s.Block+"\x00")); block != gl.INVALID_INDEX {
		gl.UniformBlockBinding(p, block, 0)
	}
	return gpu.Program(p), nil
}

func compile(kind uint32, name, source string) (uint32, error) {
	s := gl.CreateShader(kind)
	text, free := gl.Strs(prologue + source + "\x00")
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
	return 0, fmt.Errorf("compile %s: %s", name, clean(log))
}

func clean(log string) string { return strings.TrimSpace(strings.TrimRight(log, "\x00")) }

// Ready is true: NewProgram waits.
func (d *Device) Ready(gpu.Program) bool { return true }

// DeleteProgram deletes a program.
func (d *Device) DeleteProgram(p gpu.Program) { gl.DeleteProgram(uint32(p)) }

// UseProgram takes a program into use.
func (d *Device) UseProgram(p gpu.Program) { gl.UseProgram(uint32(p)) }

// Location finds a uniform.
func (d *Device) Location(p gpu.Program, name string) gpu.Location {
	return gpu.Location(gl.GetUniformLocation(uint32(p), gl.Str(name+"\x00")))
}

// Uniform1f sets a uniform.
func (d *Device) Uniform1f(at gpu.Location, v float32) { gl.Uniform1f(int32(at), v) }

// Uniform4f sets a uniform.
func (d *Device) Uniform4f(at gpu.Location, v [4]float32) {
	gl.Uniform4f(int32(at), v[0], v[1], v[2], v[3])
}

// UniformMatrix sets a uniform.
func (d *Device) UniformMatrix(at gpu.Location, m *[16]float32) {
	gl.UniformMatrix4fv(int32(at), 1, false, &m[0])
}
