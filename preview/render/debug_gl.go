//go:build cgo && !nopreview

package render

import (
	"context"
	"log/slog"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
)

// stage is what a Renderer does when the driver says something.
type stage string

const (
	stageStart    stage = "start"
	stageGeometry stage = "geometry"
	stageTextures stage = "textures"
	stageBatches  stage = "batches"
	stageFrame    stage = "frame"
	stageShadows  stage = "shadows"
	stageScene    stage = "scene"
	stageOverlay  stage = "overlay"
	stagePresent  stage = "present"
	stagePicture  stage = "picture" // reading it, which waits for the GPU by its nature
	stageEnd      stage = "end"
	stageBetween  stage = "between frames"
)

// messages listens to what the driver says (GL_KHR_debug) and counts it.
type messages struct {
	log    *slog.Logger // nil: not listening
	stage  stage
	frames *uint64
	seen   map[messageKind]int

	errors      int
	performance int // in flight: neither while starting nor of reading pictures
	starting    int // performance, while starting
}

// messageKind is what messages are told apart by: their texts hold numbers.
type messageKind struct {
	kind, id uint32
	stage    stage
}

// messageLines is how many messages of a kind are written; the others are
// counted.
const messageLines = 3

// listen begins to listen. What drivers say about themselves without being asked
// (notifications) is left out. Messages come while the call that they are about
// is made, so that the stage is its own.
func (m *messages) listen(log *slog.Logger, frames *uint64) {
	m.log, m.frames, m.seen = log, frames, map[messageKind]int{}
	gl.Enable(gl.DEBUG_OUTPUT)
	gl.Enable(gl.DEBUG_OUTPUT_SYNCHRONOUS)
	gl.DebugMessageCallback(func(_, kind, id, severity uint32, _ int32, text string, _ unsafe.Pointer) {
		m.heard(kind, id, severity, text)
	}, nil)
}

// at says what is done from now on. All that is done while starting and ending
// belongs to that.
func (m *messages) at(s stage) {
	if m.stage != stageStart && m.stage != stageEnd {
		m.stage = s
	}
}

func (m *messages) heard(kind, id, severity uint32, text string) {
	level := slog.LevelInfo
	switch {
	case kind == gl.DEBUG_TYPE_ERROR:
		m.errors++
		level = slog.LevelError
	case kind == gl.DEBUG_TYPE_PERFORMANCE:
		switch m.stage {
		case stageStart:
			m.starting++
		case stagePicture:
		default:
			m.performance++
		}
		level = slog.LevelWarn
	case severity == gl.DEBUG_SEVERITY_NOTIFICATION:
		return
	case severity == gl.DEBUG_SEVERITY_HIGH:
		level = slog.LevelError
	case severity == gl.DEBUG_SEVERITY_MEDIUM:
		level = slog.LevelWarn
	}
	k := messageKind{kind, id, m.stage}
	if m.seen[k]++; m.seen[k] <= messageLines {
		m.log.Log(context.Background(), level, "OpenGL: "+text, "type", messageType(kind), "id", id, "stage", m.stage, "frame", *m.frames)
	}
}

func messageType(kind uint32) string {
	switch kind {
	case gl.DEBUG_TYPE_ERROR:
		return "error"
	case gl.DEBUG_TYPE_PERFORMANCE:
		return "performance"
	case gl.DEBUG_TYPE_DEPRECATED_BEHAVIOR:
		return "deprecated"
	case gl.DEBUG_TYPE_UNDEFINED_BEHAVIOR:
		return "undefined"
	case gl.DEBUG_TYPE_PORTABILITY:
		return "portability"
	}
	return "other"
}

// silence ends listening and states how often what was said.
func (m *messages) silence() {
	if m.log == nil {
		return
	}
	gl.Disable(gl.DEBUG_OUTPUT)
	gl.DebugMessageCallback(nil, nil)
	for k, n := range m.seen {
		if n > messageLines {
			m.log.Info("OpenGL said more of the same", "type", messageType(k.kind), "id", k.id, "stage", k.stage, "times", n)
		}
	}
	m.log = nil
}

// count fills in the counters.
func (m *messages) count(s *Stats) {
	s.GLErrors, s.GLPerformance, s.GLPerformanceStart = m.errors, m.performance, m.starting
}
