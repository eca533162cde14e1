// The viewer of the page: package preview, in WebAssembly. The page gives it the
// place of a scene, a canvas (package surface) and a file system whose files are
// fetched (files.js).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall/js"
	"time"

	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/preview/web/internal/decoder"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
)

// Budgets of a page in bytes: of a tab's 4 GiB of addresses the scene may have a
// part, and phones give less than that.
const (
	geometryBudget = 512 << 20
	textureBudget  = 256 << 20
)

// statusEvery is how often the page is told how it goes.
const statusEvery = 250 * time.Millisecond

// textureWorkers is how many textures the decoders are asked for at a time: while one is
// fetched others are decoded.
const textureWorkers = 8

func main() {
	if len(os.Args) > 1 && os.Args[1] == "decode" { // of a worker: decoder.js
		fmt.Fprintln(os.Stderr, decoder.Serve(js.Global().Get("untoldDecoder")))
		return
	}
	page := js.Global().Get("untoldPage")
	text := ""
	if err := run(page); err != nil {
		text = err.Error()
	}
	page.Call("ended", text)
}

func run(page js.Value) (err error) {
	scenes, err := preview.Open(page.Get("scene").String())
	if err != nil {
		return err
	}
	cfg := config.Default()
	cfg.GeometryBudget, cfg.TextureBudget = geometryBudget, textureBudget
	t := &teller{page: page}
	pool := decoder.NewPool(decoder.NewPort(page.Get("decoders")), decoder.PoolOptions{
		Said:     func(text string) { js.Global().Get("console").Call("warn", text) },
		Distrust: func(file string) { page.Call("distrust", file) },
	})
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = preview.Run(context.Background(), preview.Options{
		Loader: pool,
		Scenes: scenes, Config: cfg, NoHUD: true, KeepOpen: true, Start: start(page.Get("start")),
		Render: render.Options{
			Samples: page.Get("samples").Int(), ShadowSize: page.Get("shadows").Int(), Plain: page.Get("plain").Bool(),
			TextureReader: pool, TextureWorkers: textureWorkers,
		},
		Message:  func(text string) { page.Call("message", text) },
		OnStatus: t.status,
	})
	return err
}

// start reads a camera: seven numbers, of position, direction and field of view;
// nil when the page has none.
func start(v js.Value) *runtime.Camera {
	if v.IsNull() {
		return nil
	}
	var n [7]float64
	for i := range n {
		n[i] = v.Index(i).Float()
	}
	return &runtime.Camera{Position: [3]float64(n[:3]), Forward: [3]float64(n[3:6]), FovYDegrees: n[6]}
}

// teller tells the page how it goes.
type teller struct {
	page   js.Value
	told   time.Time
	frames int
	worst  float64 // milliseconds of a frame, without the wait for the browser
}

// status is preview.Options.OnStatus.
func (t *teller) status(s *preview.Status) {
	t.frames++
	t.worst = max(t.worst, s.Frame.MS-s.Frame.Present)
	now := time.Now()
	since := now.Sub(t.told)
	if since < statusEvery {
		return
	}
	c := &s.Camera
	list := func(v [3]float64) []any { return []any{v[0], v[1], v[2]} }
	t.page.Call("status", map[string]any{
		"fps": float64(t.frames) / since.Seconds(), "cpu": t.worst, "frame": s.Frame.Frame, "missing": s.Missing,
		"draws": s.Drawn.Draws, "triangles": s.Drawn.Triangles, "undrawn": s.Stream.UndrawnTiles, "tiles": s.Stream.LoadedCount,
		"loads": s.Stream.ActiveLoads + s.Stream.PendingLoadBacklog, "uploads": s.Drawn.Pending, "textures": s.Drawn.TexturesPending,
		"batches": s.Drawn.BatchWork, "geometry": s.Drawn.GeometryBytes, "texels": s.Drawn.TextureBytes,
		"position": list(c.Position), "forward": list(c.Forward), "fov": c.FovYDegrees,
	})
	t.told, t.frames, t.worst = now, 0, 0
}
