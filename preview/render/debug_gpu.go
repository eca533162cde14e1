package render

import (
	"context"
	"log/slog"

	"github.com/untoldkit/untold/preview/internal/gpu"
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

// messages listens to what the driver says and counts it.
type messages struct {
	device gpu.Device
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
	kind  gpu.MessageKind
	id    uint32
	stage stage
}

// messageLines is how many messages of a kind are written; the others are
// counted.
const messageLines = 3

// listen begins to listen. What drivers say about themselves without being asked
// (notifications) is left out. Messages come while the call that they are about
// is made, so that the stage is its own.
func (m *messages) listen(d gpu.Device, log *slog.Logger, frames *uint64) {
	m.device, m.log, m.frames, m.seen = d, log, frames, map[messageKind]int{}
	d.Listen(m.heard)
}

// at says what is done from now on. All that is done while starting and ending
// belongs to that.
func (m *messages) at(s stage) {
	if m.stage != stageStart && m.stage != stageEnd {
		m.stage = s
	}
}

func (m *messages) heard(e *gpu.Message) {
	level := slog.LevelInfo
	switch {
	case e.Kind == gpu.MessageError:
		m.errors++
		level = slog.LevelError
	case e.Kind == gpu.MessagePerformance:
		switch m.stage {
		case stageStart:
			m.starting++
		case stagePicture:
		default:
			m.performance++
		}
		level = slog.LevelWarn
	case e.Severity == gpu.SeverityNotification:
		return
	case e.Severity == gpu.SeverityHigh:
		level = slog.LevelError
	case e.Severity == gpu.SeverityMedium:
		level = slog.LevelWarn
	}
	k := messageKind{e.Kind, e.ID, m.stage}
	if m.seen[k]++; m.seen[k] <= messageLines {
		m.log.Log(context.Background(), level, "OpenGL: "+e.Text, "type", e.Kind.String(), "id", e.ID, "stage", m.stage, "frame", *m.frames)
	}
}

// silence ends listening and states how often what was said.
func (m *messages) silence() {
	if m.log == nil {
		return
	}
	m.device.Listen(nil)
	for k, n := range m.seen {
		if n > messageLines {
			m.log.Info("OpenGL said more of the same", "type", k.kind.String(), "id", k.id, "stage", k.stage, "times", n)
		}
	}
	m.log = nil
}

// count fills in the counters.
func (m *messages) count(s *Stats) {
	s.GLErrors, s.GLPerformance, s.GLPerformanceStart = m.errors, m.performance, m.starting
}
