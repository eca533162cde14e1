package stats

import (
	"cmp"
	"fmt"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/untoldkit/untold/preview/render"
)

// Frame is what one frame took, part by part, and what it had to do: the
// answer to why a frame was late. Times are milliseconds.
type Frame struct {
	Frame int     `json:"frame"`  // from 0
	CPU   float64 `json:"cpu_ms"` // computed by all threads; 0 where the system cannot tell
	// Interval is the time from the moment in which the frame before was handed
	// over to that of this one, 0 for the first: what a viewer sees. In a window
	// that is the end of the swap of buffers, headless the end of the wait that
	// keeps the pace.
	Interval float64 `json:"interval_ms"`
	MS       float64 `json:"ms"` // on the wall, of which:

	Load     float64 `json:"load_ms"`     // waiting for files, on a virtual clock only
	Update   float64 `json:"update_ms"`   // Streamer.Update, uploads of payloads begun in it
	Textures float64 `json:"textures_ms"` // choosing sizes of textures
	Upload   float64 `json:"upload_ms"`   // to the GPU
	HUD      float64 `json:"hud_ms"`      // composing what is drawn over the picture
	Wait     float64 `json:"wait_ms"`     // for the GPU, which is behind
	Collect  float64 `json:"collect_ms"`  // culling and ordering
	Shadow   float64 `json:"shadow_ms"`   // issuing shadow maps
	Scene    float64 `json:"scene_ms"`    // issuing the view
	Finish   float64 `json:"finish_ms"`   // issuing the overlay and the copy to the surface
	Present  float64 `json:"present_ms"`  // showing it; in a window with the wait for the display
	GPU      float64 `json:"gpu_ms"`      // of an earlier frame; 0 where the driver cannot tell

	Draws           int   `json:"draws"`
	Triangles       int   `json:"triangles"`
	ShadowDraws     int   `json:"shadow_draws"`
	ShadowTriangles int   `json:"shadow_triangles"`
	Uploads         int   `json:"uploads"` // pieces
	UploadBytes     int64 `json:"upload_bytes"`
	Events          int   `json:"events"` // of the runtime
	GC              int   `json:"gc"`     // garbage collections that ended in it
}

// Stopwatch measures the parts of a frame one after the other. The first part
// begins with Last.
type Stopwatch struct{ Last time.Time }

// Lap returns the milliseconds since the last call.
func (s *Stopwatch) Lap() float64 {
	now := time.Now()
	d := now.Sub(s.Last)
	s.Last = now
	return d.Seconds() * 1e3
}

// Drew adds what the renderer says of a frame.
func (f *Frame) Drew(s *render.Stats) {
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 }
	f.Wait, f.Collect, f.Shadow, f.Scene, f.Finish, f.GPU = ms(s.Wait), ms(s.Collect), ms(s.Shadow), ms(s.Scene), ms(s.Finish), ms(s.GPU)
	f.Draws, f.Triangles, f.ShadowDraws, f.ShadowTriangles = s.Draws, s.Triangles, s.ShadowDraws, s.ShadowTriangles
	f.Uploads, f.UploadBytes = s.UploadPieces, s.UploadBytes
}

// worstFrames is how many frames a report tells in full.
const worstFrames = 10

// worst keeps the frames that took longest, the longest first; of equal ones
// the earlier.
type worst struct{ list []Frame }

func (w *worst) add(f *Frame) {
	if len(w.list) == worstFrames && f.MS <= w.list[worstFrames-1].MS {
		return
	}
	if len(w.list) == worstFrames {
		w.list = w.list[:worstFrames-1]
	}
	w.list = append(w.list, *f)
	slices.SortStableFunc(w.list, func(a, b Frame) int { return cmp.Compare(b.MS, a.MS) })
}

// collections counts garbage collections.
type collections struct {
	sample [1]metrics.Sample
	last   uint64
}

// since returns how many ended since the last call.
func (c *collections) since() int {
	c.sample[0].Name = "/gc/cycles/total:gc-cycles"
	metrics.Read(c.sample[:])
	now := c.sample[0].Value.Uint64()
	n := now - c.last
	c.last = now
	return int(n)
}

// String tells the parts that matter, the dearest first.
func (f *Frame) String() string {
	parts := []struct {
		name string
		ms   float64
	}{
		{"load", f.Load},
		{"update", f.Update},
		{"textures", f.Textures},
		{"upload", f.Upload},
		{"hud", f.HUD},
		{"wait", f.Wait},
		{"collect", f.Collect},
		{"shadow", f.Shadow},
		{"scene", f.Scene},
		{"finish", f.Finish},
		{"present", f.Present},
	}
	slices.SortStableFunc(parts, func(a, b struct {
		name string
		ms   float64
	},
	) int {
		return cmp.Compare(b.ms, a.ms)
	})
	s := fmt.Sprintf("number %d, %.1f ms", f.Frame, f.MS)
	for _, p := range parts[:4] {
		if p.ms >= 0.05*f.MS {
			s += fmt.Sprintf(", %s %.1f", p.name, p.ms)
		}
	}
	s += fmt.Sprintf("; %d triangles, %d in shadow maps, %d bytes uploaded", f.Triangles, f.ShadowTriangles, f.UploadBytes)
	if f.GC > 0 {
		s += ", garbage collected"
	}
	return s
}
