// The viewer of the page: package preview, in WebAssembly. The page gives it the
// place of a scene, a canvas (package surface) and a file system whose files are
// fetched (files.js), each time that it starts.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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

// How much the decoders are asked for at a time: while one file is fetched others are
// decoded, so that no turn of the network is waited for. The runtime's own limits are for
// files that are there.
const (
	textureWorkers = 8
	textureChanges = 16 // entities whose textures change
	tileLoads      = 6
)

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
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &preview.Control{}
	defer remote(page, c, cancel)()
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
	o := preview.Options{
		Scenes: scenes, Config: cfg, NoHUD: true, KeepOpen: true, Control: c, Loader: pool,
		Render: render.Options{
			Samples: page.Get("samples").Int(), ShadowSize: page.Get("shadows").Int(), Plain: page.Get("plain").Bool(),
			TextureReader: pool, TextureWorkers: textureWorkers,
		},
		Message:  func(text string) { page.Call("message", text) },
		OnStatus: t.status,
	}
	o.Viewpoint = page.Get("viewpoint").String()
	o.NoGrade = page.Get("ungraded").Bool()
	var ok bool
	if o.Lighting, ok = preview.ParseLighting(page.Get("lights").String()); !ok {
		return fmt.Errorf("lights are %s, not %q", strings.Join(preview.LightingNames(), ", "), page.Get("lights").String())
	}
	if start := page.Get("start"); !start.IsNull() {
		at := camera(start)
		o.Start = &at
	}
	if f := page.Get("flight"); !f.IsNull() {
		return rehearse(ctx, o, page, f)
	}
	o.TextureChanges = textureChanges
	o.Config.MaxConcurrentTileLoads = max(o.Config.MaxConcurrentTileLoads, tileLoads)
	_, err = preview.Run(ctx, o)
	return err
}

// camera reads seven numbers: position, direction and field of view.
func camera(v js.Value) runtime.Camera {
	var n [7]float64
	for i := range n {
		n[i] = v.Index(i).Float()
	}
	return runtime.Camera{Position: [3]float64(n[:3]), Forward: [3]float64(n[3:6]), FovYDegrees: n[6]}
}

// remote gives the page what it steers the program by; undo takes it back.
func remote(page js.Value, c *preview.Control, stop func()) (undo func()) {
	calls := map[string]js.Func{
		"stop": js.FuncOf(func(js.Value, []js.Value) any {
			stop()
			return nil
		}),
		// A camera, seconds, and what is told whether it has arrived.
		"flyTo": js.FuncOf(func(_ js.Value, args []js.Value) any {
			done := args[2]
			c.FlyTo(camera(args[0]), time.Duration(args[1].Float()*float64(time.Second)), func(arrived bool) { done.Invoke(arrived) })
			return nil
		}),
		"setView": js.FuncOf(func(_ js.Value, args []js.Value) any {
			view, ok := render.ParseViewMode(args[0].String())
			if ok {
				c.SetView(view)
			}
			return ok
		}),
		// Width and height of the lower left corner that the page covers, in pixels.
		"setCovered": js.FuncOf(func(_ js.Value, args []js.Value) any {
			c.SetCovered(args[0].Int(), args[1].Int())
			return nil
		}),
	}
	for name, f := range calls {
		page.Set(name, f)
	}
	return func() {
		for name, f := range calls {
			page.Set(name, js.Null())
			f.Release()
		}
	}
}
