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
func (v *overlay) compose(a *app, f *render.Frame) {
	w, h := a.surf.Size()
	v.model = hud.Model{Width: w, Height: h}
	m := &v.model
	if v.needsTiles(a) {
		if v.age == 0 || a.clock.virtual {
			v.lookAt(a)
		}
		v.age = (v.age + 1) % refresh
	}
	if !a.o.Headless || a.display.show.Panel {
		if a.frame%refresh == 0 || v.load.missing > 0 && a.shown.s.Stats().ActiveLoads == 0 {
			v.load.update(a)
		}
		m.Missing = v.load.missing
	}
	v.drawLines(a)
	f.Lines, f.LinesOnTop = v.lines, v.onTop
	v.figures(a, m)
	v.legend(a, m)
	if a.display.show.Occlusion {
		m.Occlusion = &v.mask
	}
	if a.display.show.Help {
		m.Help = helpGroups()
	}
	m.Chooser = a.display.chooser
	m.Message, m.Alert = a.messages.current()
	if a.o.Headless && !a.display.show.Panel {
		m.Message, m.Alert = "", "" // a picture without a word over it
	}
	if c := v.hud.Draw(m); len(c.Overlay().Indices) > 0 {
		f.Overlay = c.Overlay()
	}
}

func (v *overlay) needsTiles(a *app) bool {
	return a.display.show.Panel || a.display.show.Map || a.display.show.Boxes || a.display.show.Octree || a.display.show.Occlusion || a.display.show.Rings
}

// lookAt reads the state of all tiles.
func (v *overlay) lookAt(a *app) {
	v.tiles = a.shown.s.Snapshot().Tiles
	v.counts = hud.Count(v.tiles)
	if v.boxes == nil {
		v.boxes = tileBoxes(a)
	}
	if a.display.show.Octree && v.leaves == nil {
		v.leaves = a.shown.s.AppendOctreeLeaves(nil, a.shown.id)
	}
	if a.display.show.Occlusion {
		v.mask = a.shown.s.Occlusion(a.shown.id)
	}
	v.colors(a.shown.id)
	v.pick(a)
	v.radii = a.radii(v.radii[:0])
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
func tileBoxes(a *app) []manifest.Bounds {
	tiles := a.shown.open.Source.Manifest.Tiles
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

// pick finds the tile under the pointer: the nearest box that holds something,
// boxes around the camera last.
func (v *overlay) pick(a *app) {
	v.picked = false
	if !a.input.inside || a.o.Headless || a.input.drag != [3]bool{} {
		return
	}
	w, h := a.surf.Size()
	ray := hud.RayAt(&a.cam.draw, a.input.x, a.input.y, float64(w), float64(h))
	best, bestAt := int32(-1), math.Inf(1)
	for i := range a.drawn {
		tile := a.drawn[i].Tile
		if a.drawn[i].Scene != a.shown.id {
			continue // beside the scene
		}
		if int(tile) >= len(a.shown.open.Source.Manifest.Tiles) {
			continue
		}
		at, ok := ray.Hit(a.shown.open.Source.Manifest.Tiles[tile].Bounds.Box())
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
	v.cursor = hud.Cursor{Status: tileOf(v.tiles, a.shown.id, best)}
	v.cursor.Info, v.picked = a.shown.s.TileInfo(a.shown.id, best)
	v.cursor.Distance = v.cursor.Info.Bounds.Box().Distance(a.cam.stream.Position)
}

// drawLines makes the lines of the debug views.
func (v *overlay) drawLines(a *app) {
	v.lines, v.onTop = v.lines[:0], v.onTop[:0]
	root := a.shown.root()
	if a.display.show.Boxes {
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
	if a.display.show.Cells {
		v.drawCells(a)
	}
	if a.display.show.Octree {
		for i := range v.leaves[:min(len(v.leaves), hud.MaxBoxes)] {
			v.lines = hud.AppendBox(v.lines, v.leaves[i].Box(), &root, hud.ColorNone)
		}
	}
	if a.display.show.Occlusion {
		for _, tile := range v.mask.Hidden {
			if int(tile) < len(v.boxes) {
				v.onTop = hud.AppendBox(v.onTop, v.boxes[tile].Box(), &root, hud.ColorUnloaded)
			}
		}
	}
	if a.display.show.Rings {
		v.rings(a)
	}
	if a.cam.frozen != nil {
		v.onTop = hud.AppendFrustum(v.onTop, a.cam.frozen, min(a.cam.frozen.Far, a.cam.scene.Bounds.Size().Len()/4), hud.Color{77, 153, 255, 255})
	}
}

// rings are the radii of a tile without its own, around the camera.
func (v *overlay) rings(a *app) {
	for _, r := range v.radii {
		at := geom.Vec3{a.cam.stream.Position[0], a.cam.scene.Bounds.Min[1] + 0.5, a.cam.stream.Position[2]}
		if a.cam.scene.Bounds.Size()[1] > 1000 { // nothing flat below
			at[1] = a.cam.stream.Position[1]
		}
		v.onTop = hud.AppendRing(v.onTop, at, r.Radius, r.Color)
	}
}

// radii appends the radii of the tile nearest to the camera, the largest first.
func (a *app) radii(dst []hud.MapRing) []hud.MapRing {
	best, at := -1, math.Inf(1)
	tiles := a.shown.open.Source.Manifest.Tiles
	for i := range tiles {
		if d := tiles[i].Bounds.Box().Distance(a.cam.stream.Position); d < at {
			best, at = i, d
		}
	}
	if best < 0 || a.shown.open.Everywhere {
		return dst
	}
	info, _ := a.shown.s.TileInfo(a.shown.id, int32(best))
	return append(dst,
		hud.MapRing{Radius: info.Unload, Color: hud.ColorUnloaded},
		hud.MapRing{Radius: info.Prefetch, Color: hud.ColorLoading},
		hud.MapRing{Radius: info.Streaming, Color: hud.ColorResident})
}

// figures fills the panel, the map and the line about the tile under the
// pointer.
func (v *overlay) figures(a *app, m *hud.Model) {
	if a.display.show.Panel {
		camera := a.cam.stream
		if o := a.shown.open.Source.Manifest.OriginOffset; o != nil { // people know the source's coordinates
			camera.Position = geom.Vec3(*o).Add(camera.Position)
		}
		v.panel = hud.Panel{
			Times: a.meter.Recent(), Stats: a.shown.s.Stats(), Render: a.stats, Tiles: v.counts, Camera: camera,
			Mode: a.cam.rig.Mode().String(), Recording: a.cam.recording != nil, Paused: a.paused, Frozen: a.cam.frozen != nil,
			Batching: a.o.Config.Batching.Enabled,
		}
		if a.memory.monitor != nil {
			v.panel.Pressure = a.memory.monitor.Level()
		}
		if a.cam.following {
			v.panel.Mode = "camera path"
		} else {
			v.panel.Speed = a.cam.rig.Speed()
		}
		m.Panel = &v.panel
		if v.picked && a.display.chooser == nil && !a.display.show.Help {
			m.Cursor = &v.cursor
		}
	}
	if a.display.show.Map {
		v.plan.Bounds, v.plan.Camera = a.cam.scene.Bounds, a.cam.draw
		v.plan.Rings = v.radii
		m.Map = &v.plan
	}
}

// legend names the view and the debug views.
func (v *overlay) legend(a *app, m *hud.Model) {
	if a.o.Headless && !a.display.show.Panel {
		return
	}
	switch a.display.view {
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
	if !a.display.show.Boxes && !a.display.show.Octree && !a.display.show.Occlusion && !a.display.show.Rings && !a.display.show.Cells {
		return
	}
	note := m.Note
	if m.View != "" {
		m.View += ", "
		note += " "
	}
	defer func() { m.Note = note + m.Note }()
	switch {
	case a.display.show.Boxes:
		m.View += "tile boxes"
		m.Note = "Boxes of tiles by what is resident."
		m.Legend = append(m.Legend,
			hud.LegendEntry{Color: hud.ColorResident, Text: "box: full"}, hud.LegendEntry{Color: hud.ColorLoading, Text: "loading"},
			hud.LegendEntry{Color: hud.ColorMixed, Text: "coarser"}, hud.LegendEntry{Color: hud.ColorUnloaded, Text: "none"})
	case a.display.show.Cells:
		m.View += "batch cells"
		m.Note = "Boxes of what a cell holds, by what is done for it."
		m.Legend = append(m.Legend, cellLegend()...)
	case a.display.show.Octree:
		m.View += "octree"
		m.Note = "Leaves of the spatial index, eight tiles each."
	case a.display.show.Occlusion:
		m.View += "occlusion mask"
		m.Note = "Blue cells are covered by loaded tiles. Red boxes are tiles behind them: they load last."
	case a.display.show.Rings:
		m.View += "radii"
		m.Note = "Around the camera, for the nearest tile."
		m.Legend = append(m.Legend,
			hud.LegendEntry{Color: hud.ColorResident, Text: "ring: full"}, hud.LegendEntry{Color: hud.ColorLoading, Text: "prefetch"},
			hud.LegendEntry{Color: hud.ColorUnloaded, Text: "unload"})
	}
}
