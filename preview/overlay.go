package preview

import (
	"math"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/preview/internal/hud"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// refresh is how many frames a look at all tiles serves for.
const refresh = 6

// overlay makes what is drawn over and into the picture.
type overlay struct {
	hud  *hud.HUD
	size int // of the font

	age    int // frames since the last look at the tiles
	tiles  []runtime.TileStatus
	counts hud.Counts
	boxes  []manifest.Bounds // of all tiles, by index; nil: to be read
	leaves []manifest.Bounds
	cursor hud.Cursor
	picked bool
	mask   runtime.Occlusion
	model  hud.Model
	panel  hud.Panel
	plan   hud.Map
	lines  []render.Line
	onTop  []render.Line
	status []hud.Color // of every tile, by index
	cells  []batch.Cell
	load   loading
	radii  []hud.MapRing

	covered hud.Corner // see Control.SetCovered
}

// font fits the text to the display and to the height of the picture.
func (v *overlay) font(scale float64, height int) error {
	size := int(math.Round(13 * max(scale, 1)))
	if height < 400 {
		size = max(9, size*height/480)
	}
	if v.hud != nil && size == v.size {
		return nil
	}
	f, err := hud.NewFont(size)
	if err != nil {
		return err
	}
	v.hud, v.size = hud.New(f), size
	return nil
}

// changed forgets what belongs to another scene.
func (v *overlay) changed() {
	v.boxes, v.leaves, v.age, v.picked = nil, nil, 0, false
	v.tiles, v.status = nil, v.status[:0]
}

// compose fills the lines and the overlay of a frame.
func (a *app) compose(f *render.Frame) {
	v, show := &a.overlay, &a.display.show
	w, h := a.surf.Size()
	v.model = hud.Model{Width: w, Height: h, Covered: v.covered}
	m := &v.model
	if show.tiles() {
		if v.age == 0 || a.clock.virtual {
			v.lookAt(&a.shown, show, a.cam.stream.Position)
			v.picked = false
			if a.input.inside && !a.o.Headless && a.input.drag == [3]bool{} {
				v.pick(&a.shown, hud.RayAt(&a.cam.draw, a.input.x, a.input.y, float64(w), float64(h)), a.drawn, a.cam.stream.Position)
			}
		}
		v.age = (v.age + 1) % refresh
	}
	if !a.o.Headless || show.Panel {
		if a.frame%refresh == 0 || v.load.missing > 0 && a.shown.s.Stats().ActiveLoads == 0 {
			a.tellLoading()
		}
		m.Missing = v.load.missing
	}
	if show.Cells {
		v.cells = a.r.AppendBatchCells(v.cells[:0])
	}
	v.drawLines(&a.shown, &a.cam, show)
	f.Lines, f.LinesOnTop = v.lines, v.onTop
	if show.Panel {
		v.panel = a.figures()
		m.Panel = &v.panel
		if v.picked && a.display.chooser == nil && !show.Help {
			m.Cursor = &v.cursor
		}
	}
	if show.Map {
		v.plan.Bounds, v.plan.Camera, v.plan.Rings = a.cam.scene.Bounds, a.cam.draw, v.radii
		m.Map = &v.plan
	}
	if !a.o.Headless || show.Panel {
		legend(m, a.display.view, show)
	}
	if show.Occlusion {
		m.Occlusion = &v.mask
	}
	if show.Help {
		m.Help = helpGroups()
	}
	m.Chooser = a.display.chooser
	m.Message, m.Alert = a.messages.current()
	if a.o.Headless && !show.Panel {
		m.Message, m.Alert = "", "" // a picture without a word over it
	}
	if c := v.hud.Draw(m); len(c.Overlay().Indices) > 0 {
		f.Overlay = c.Overlay()
	}
}

// figures returns those of the panel.
func (a *app) figures() hud.Panel {
	camera := a.cam.stream
	if o := a.shown.open.Source.Manifest.OriginOffset; o != nil { // people know the source's coordinates
		camera.Position = geom.Vec3(*o).Add(camera.Position)
	}
	p := hud.Panel{
		Times: a.meter.Recent(), Stats: a.shown.s.Stats(), Render: a.stats, Tiles: a.overlay.counts, Camera: camera,
		Mode: a.cam.rig.Mode().String(), Recording: a.cam.recording != nil, Paused: a.paused, Frozen: a.cam.frozen != nil,
		Batching: a.o.Config.Batching.Enabled, ErrorPixels: a.shown.drive.errorPixels(),
	}
	if a.memory.monitor != nil {
		p.Pressure = a.memory.monitor.Level()
	}
	if a.cam.following {
		p.Mode = "camera path"
	} else {
		p.Speed = a.cam.rig.Speed()
	}
	return p
}

// tiles reports whether what is shown needs the state of all tiles.
func (s *Show) tiles() bool {
	return s.Panel || s.Map || s.Boxes || s.Octree || s.Occlusion || s.Rings
}

// lookAt reads the state of all tiles, from where the camera is.
func (v *overlay) lookAt(sh *shown, show *Show, from geom.Vec3) {
	v.tiles = sh.s.Snapshot().Tiles
	v.counts = hud.Count(v.tiles)
	if v.boxes == nil {
		v.boxes = tileBoxes(sh.open.Source.Manifest.Tiles)
	}
	if show.Octree && v.leaves == nil {
		v.leaves = sh.s.AppendOctreeLeaves(nil, sh.id)
	}
	if show.Occlusion {
		v.mask = sh.s.Occlusion(sh.id)
	}
	v.colors(sh.id)
	v.radii = sh.appendRadii(v.radii[:0], from)
	v.mapTiles()
}

// mapTiles lists what the map shows; of a large scene only what is not idle.
func (v *overlay) mapTiles() {
	v.plan.Tiles = v.plan.Tiles[:0]
	for i := range v.boxes {
		idle := v.status[i] == hud.ColorUnloaded
		if idle && len(v.boxes) > 2*hud.MaxBoxes {
			continue
		}
		v.plan.Tiles = append(v.plan.Tiles, hud.MapTile{Box: v.boxes[i].Box(), Color: v.status[i], Fill: !idle})
	}
}

// tileBoxes returns the boxes to draw: the cell of a tile where there is one,
// as high as its content. The shared bucket has none.
func tileBoxes(tiles []manifest.Tile) []manifest.Bounds {
	out := make([]manifest.Bounds, len(tiles))
	for i := range tiles {
		out[i] = tiles[i].Bounds
		if c := tiles[i].CellBounds; c != nil {
			for _, axis := range [...]int{0, 2} {
				out[i].Min[axis], out[i].Max[axis] = c.Min[axis], c.Max[axis]
			}
		}
	}
	return out
}

// colors gives every tile the colour of its state.
func (v *overlay) colors(scene payload.SceneID) {
	v.status = v.status[:0]
	for range v.boxes {
		v.status = append(v.status, hud.ColorUnloaded)
	}
	for i := range v.tiles {
		if t := &v.tiles[i]; t.Scene == scene && int(t.Tile) < len(v.status) {
			v.status[t.Tile] = hud.StateColor(t)
		}
	}
}

// pick finds the tile that a ray meets of what is drawn: the nearest box that holds
// something, boxes around the camera last.
func (v *overlay) pick(sh *shown, ray hud.Ray, drawn []runtime.Drawn, from geom.Vec3) {
	tiles := sh.open.Source.Manifest.Tiles
	best, bestAt := int32(-1), math.Inf(1)
	for i := range drawn {
		tile := drawn[i].Tile
		if drawn[i].Scene != sh.id || int(tile) >= len(tiles) {
			continue // beside the scene
		}
		at, ok := ray.Hit(tiles[tile].Bounds.Box())
		if at == 0 {
			at = 1e12
		}
		if ok && at < bestAt {
			best, bestAt = tile, at
		}
	}
	if best < 0 {
		return
	}
	v.cursor = hud.Cursor{Status: tileOf(v.tiles, sh.id, best)}
	v.cursor.Info, v.picked = sh.s.TileInfo(sh.id, best)
	v.cursor.Distance = v.cursor.Info.Bounds.Box().Distance(from)
}

// drawLines makes the lines of the debug views.
func (v *overlay) drawLines(sh *shown, cam *cameraDriver, show *Show) {
	v.lines, v.onTop = v.lines[:0], v.onTop[:0]
	root := sh.root()
	if show.Boxes {
		drawn := 0
		// What is not idle first: that is what one wants to see of a large scene.
		for pass := range 2 {
			for i := range v.boxes {
				if idle := v.status[i] == hud.ColorUnloaded; idle == (pass == 0) || drawn >= hud.MaxBoxes {
					continue
				}
				v.lines = hud.AppendBox(v.lines, v.boxes[i].Box(), &root, v.status[i])
				drawn++
			}
		}
	}
	if show.Cells {
		v.drawCells(sh.id, &root)
	}
	if show.Octree {
		for i := range v.leaves[:min(len(v.leaves), hud.MaxBoxes)] {
			v.lines = hud.AppendBox(v.lines, v.leaves[i].Box(), &root, hud.ColorNone)
		}
	}
	if show.Occlusion {
		for _, tile := range v.mask.Hidden {
			if int(tile) < len(v.boxes) {
				v.onTop = hud.AppendBox(v.onTop, v.boxes[tile].Box(), &root, hud.ColorUnloaded)
			}
		}
	}
	if show.Rings {
		v.rings(cam)
	}
	if cam.frozen != nil {
		v.onTop = hud.AppendFrustum(v.onTop, cam.frozen, min(cam.frozen.Far, cam.scene.Bounds.Size().Len()/4), hud.Color{77, 153, 255, 255})
	}
}

// rings are the radii of a tile without its own, around the camera.
func (v *overlay) rings(cam *cameraDriver) {
	for _, r := range v.radii {
		at := geom.Vec3{cam.stream.Position[0], cam.scene.Bounds.Min[1] + 0.5, cam.stream.Position[2]}
		if cam.scene.Bounds.Size()[1] > 1000 { // nothing flat below
			at[1] = cam.stream.Position[1]
		}
		v.onTop = hud.AppendRing(v.onTop, at, r.Radius, r.Color)
	}
}

// appendRadii appends the radii of the tile nearest to a place, the largest first.
func (sh *shown) appendRadii(dst []hud.MapRing, from geom.Vec3) []hud.MapRing {
	best, at := -1, math.Inf(1)
	tiles := sh.open.Source.Manifest.Tiles
	for i := range tiles {
		if d := tiles[i].Bounds.Box().Distance(from); d < at {
			best, at = i, d
		}
	}
	if best < 0 || sh.open.Everywhere {
		return dst
	}
	info, _ := sh.s.TileInfo(sh.id, int32(best))
	return append(dst,
		hud.MapRing{Radius: info.Unload, Color: hud.ColorUnloaded},
		hud.MapRing{Radius: info.Prefetch, Color: hud.ColorLoading},
		hud.MapRing{Radius: info.Streaming, Color: hud.ColorResident})
}

// legend names the view and the debug views.
func legend(m *hud.Model, view render.ViewMode, show *Show) {
	switch view {
	case render.ViewLit:
	case render.ViewLOD:
		m.View, m.Note = "levels of detail", "The colour of a tile is the level that it draws."
		for _, r := range [...]payload.Rep{payload.RepFull, payload.LOD(0), payload.LOD(1), payload.LOD(2), payload.RepHLOD} {
			m.Legend = append(m.Legend, hud.LegendEntry{Color: hud.LevelColor(r), Text: r.String()})
		}
	case render.ViewTiles:
		m.View, m.Note = "tiles", "Every tile has a colour of its own."
	case render.ViewBatches:
		m.View, m.Note = "batches", "Every static batch has a colour of its own; what is grey is drawn mesh by mesh."
		c := render.AloneColor
		m.Legend = append(m.Legend, hud.LegendEntry{Color: hud.Color{c[0], c[1], c[2], 255}, Text: "alone"})
	case render.ViewTextureTiers:
		m.View, m.Note = "texture tiers", "By the size that base colour textures have now."
		for _, c := range render.TextureColors() {
			m.Legend = append(m.Legend, hud.LegendEntry{Color: hud.Color{c.Color[0], c.Color[1], c.Color[2], 255}, Text: c.Name})
		}
	case render.ViewAlbedo:
		m.View, m.Note = "base colour", "Without light."
	case render.ViewNormals:
		m.View, m.Note = "normals", "Red is +X, green +Y, blue +Z."
	case render.ViewWireframe:
		m.View, m.Note = "wireframe", ""
	}
	if !show.Boxes && !show.Octree && !show.Occlusion && !show.Rings && !show.Cells {
		return
	}
	note := m.Note
	if m.View != "" {
		m.View += ", "
		note += " "
	}
	defer func() { m.Note = note + m.Note }()
	switch {
	case show.Boxes:
		m.View += "tile boxes"
		m.Note = "Boxes of tiles by what is resident."
		m.Legend = append(m.Legend,
			hud.LegendEntry{Color: hud.ColorResident, Text: "box: full"}, hud.LegendEntry{Color: hud.ColorLoading, Text: "loading"},
			hud.LegendEntry{Color: hud.ColorMixed, Text: "coarser"}, hud.LegendEntry{Color: hud.ColorUnloaded, Text: "none"})
	case show.Cells:
		m.View += "batch cells"
		m.Note = "Boxes of what a cell holds, by what is done for it."
		m.Legend = append(m.Legend, cellLegend()...)
	case show.Octree:
		m.View += "octree"
		m.Note = "Leaves of the spatial index, eight tiles each."
	case show.Occlusion:
		m.View += "occlusion mask"
		m.Note = "Blue cells are covered by loaded tiles. Red boxes are tiles behind them: they load last."
	case show.Rings:
		m.View += "radii"
		m.Note = "Around the camera, for the nearest tile."
		m.Legend = append(m.Legend,
			hud.LegendEntry{Color: hud.ColorResident, Text: "ring: full"}, hud.LegendEntry{Color: hud.ColorLoading, Text: "prefetch"},
			hud.LegendEntry{Color: hud.ColorUnloaded, Text: "unload"})
	}
}
