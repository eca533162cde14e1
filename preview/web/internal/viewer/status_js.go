package main

import (
	"syscall/js"
	"time"

	"github.com/untoldkit/untold/preview"
)

// statusEvery is how often the page is told how it goes.
const statusEvery = 250 * time.Millisecond

// teller tells the page how it goes.
type teller struct {
	page   js.Value
	told   time.Time
	frames int
	worst  float64 // milliseconds of a frame, without the wait for the browser
	views  *preview.Viewpoint
	drawn  bool // something was
}

// status is preview.Options.OnStatus.
func (t *teller) status(s *preview.Status) {
	t.frames++
	t.worst = max(t.worst, s.Frame.MS-s.Frame.Present)
	now := time.Now()
	since := max(now.Sub(t.told), time.Millisecond) // which clocks of browsers may not tell
	first := !t.drawn && s.Drawn.Draws > 0          // told at once
	if since < statusEvery && !first {
		return
	}
	t.drawn = t.drawn || first
	t.viewpoints(s.Viewpoints)
	c := &s.Camera
	t.page.Call("status", map[string]any{
		"fps": float64(t.frames) / since.Seconds(), "cpu": t.worst, "frame": s.Frame.Frame, "missing": s.Missing,
		"draws": s.Drawn.Draws, "triangles": s.Drawn.Triangles, "undrawn": s.Stream.UndrawnTiles, "tiles": s.Stream.LoadedCount,
		"loads": s.Stream.ActiveLoads + s.Stream.PendingLoadBacklog, "uploads": s.Drawn.Pending, "textures": s.Drawn.TexturesPending,
		"batches": s.Drawn.BatchWork, "programs": s.Drawn.Programs, "geometry": s.Drawn.GeometryBytes, "texels": s.Drawn.TextureBytes, "error": s.ErrorPixels, "view": s.View.String(),
		"position": list(c.Position), "forward": list(c.Forward), "fov": c.FovYDegrees,
	})
	t.told, t.frames, t.worst = now, 0, 0
}

// viewpoints tells of the author's cameras, once for a scene.
func (t *teller) viewpoints(all []preview.Viewpoint) {
	if len(all) == 0 || t.views == &all[0] {
		return
	}
	t.views = &all[0]
	out := make([]any, len(all))
	for i := range all {
		c := &all[i].Camera
		out[i] = map[string]any{"name": all[i].Name, "position": list(c.Position), "forward": list(c.Forward), "fov": c.FovYDegrees}
	}
	t.page.Call("viewpoints", out)
}

func list(v [3]float64) []any { return []any{v[0], v[1], v[2]} }
