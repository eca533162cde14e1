package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// textureTier streams the textures of a run as a renderer does, with a device
// that counts bytes and a loader that knows sizes: those of the scenario, or
// those in the headers of a cooked scene's files.
type textureTier struct {
	w      *model
	stream *texture.Streamer
	emit   func(Record)
	before func() // called before textures change within an update

	files    map[texture.Slot]*textureFile // that have been looked at
	attempts map[string]int64              // loads begun, by name
	waiting  []textureJob                  // in the order of the requests
	opening  textureOpening

	entities map[payload.Key][]placed
	slots    []texture.Slot
	visible  []texture.Entity

	levels [][]int64 // bytes on the device: by texture, from 0, and level
	edges  []int     // the longest edge there, by texture
	used   int64
	peak   int64 // of used and the use by others

	loaded int64 // bytes of all uploads
	read   int64 // bytes of files that these took
	early  int   // failures of files that may follow
}

// placed is an entity and where it is: its box in its scene, and in the world.
type placed struct {
	entity     texture.Entity
	part       uint64 // of a node, as in runtime.Drawn.Parts
	box, world manifest.Bounds
}

// textureJob is a load that has not been answered.
type textureJob struct {
	req  texture.Request
	img  *texfile.Image
	err  error
	due  time.Duration // never for those that are on the network
	took time.Duration // from when they have come
}

// newTextureTier returns nil for a scene that can have no textures.
func newTextureTier(w *model, edge int, emit func(Record), before func()) (*textureTier, error) {
	s := w.s
	if len(s.Textures)+len(w.dirs) == 0 && w.loader == nil && (s.ManifestPath == "" || s.Manifest.DryRun) {
		return nil, nil
	}
	p, scales, err := textureParams(s)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	t := &textureTier{
		w: w, emit: emit, before: before,
		files: map[texture.Slot]*textureFile{}, attempts: map[string]int64{}, entities: map[payload.Key][]placed{},
	}
	t.opening.source, t.opening.came = w.source, make(chan struct{}, 1)
	o := texture.StreamOptions{
		Params: p, Scales: scales, Device: t, Trimmer: t, Loader: t, MaxEdge: cmp.Or(edge, maxTexture), QuickLoads: texture.QuickLoads, Timeout: s.Config.LoadTimeout(), NearestFirst: true, Trace: t.trace,
	}
	if w.net != nil || w.source != nil && w.draw == nil { // else no file takes time
		o.FirstEdge, o.FirstLoads = texture.NetworkEdge, texture.NetworkLoads
	}
	t.stream, err = texture.NewStreamer(o)
	return t, err
}

// maxTexture is the longest edge of a texture that the device takes, as in the
// preview.
const maxTexture = 2048

// texturesWait bounds how long a representation of a cooked scene waits for its textures,
// as in the preview.
const texturesWait = time.Second

// begun reports whether all textures of a representation have come in some size, or will
// not come.
func (t *textureTier) begun(key payload.Key) bool {
	return !slices.ContainsFunc(t.entities[key], func(p placed) bool { return !t.stream.Begun(p.entity) })
}

// texels returns how many pixels the largest texel covers of what is drawn.
func (t *textureTier) texels(camera runtime.Camera, drawn []runtime.Drawn) (most float64) {
	f := camera.Frustum()
	for i := range drawn {
		d := &drawn[i]
		for _, p := range t.entities[d.Key] {
			if d.Parts == 0 || p.part&d.Parts != 0 {
				most = max(most, t.stream.TexelPixels(p.entity, f.Sees))
			}
		}
	}
	return most
}

// Upload is the texture.Device: it counts.
func (t *textureTier) Upload(id texture.ID, img *texfile.Image) error {
	for int(id) > len(t.levels) {
		t.levels, t.edges = append(t.levels, nil), append(t.edges, 0)
	}
	t.free(id)
	list := make([]int64, len(img.Levels))
	for i := range list {
		list[i] = img.LevelBytes(i)
	}
	t.levels[id-1] = list
	t.used += sum(list)
	t.loaded += sum(list)
	if len(img.Levels) > 0 {
		t.edges[id-1] = max(img.Levels[0].Width, img.Levels[0].Height)
	}
	t.show(id)
	return nil
}

// Release is the texture.Device.
func (t *textureTier) Release(id texture.ID) {
	t.free(id)
	t.hide(id)
}

func (t *textureTier) free(id texture.ID) {
	t.used -= sum(t.levels[id-1])
	t.levels[id-1] = nil
}

// Trim is the texture.Trimmer.
func (t *textureTier) Trim(id texture.ID, levels int) bool {
	list := t.levels[id-1]
	if levels < 1 || levels >= len(list) {
		return false
	}
	t.used -= sum(list[:levels])
	t.levels[id-1] = list[levels:]
	t.edges[id-1] = max(1, t.edges[id-1]>>levels)
	t.show(id)
	return true
}

func sum(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}

// Shed is the runtime.TextureRelief.
func (t *textureTier) Shed(n int) int {
	t.before()
	return t.stream.Shed(n)
}

// trace turns what happens to a texture into a record.
func (t *textureTier) trace(e texture.Event) {
	slot, _ := t.stream.Slot(e.Texture)
	if t.w.remote() && errors.Is(e.Err, fs.ErrNotExist) {
		t.early++
	}
	t.emit(NewTextureRecord(&e, slot, t.w.now, uint64(t.w.frame)))
}

// add registers what has been uploaded.
func (t *textureTier) add(key payload.Key, asset *payload.Asset) {
	if asset != nil && len(asset.Textures) > 0 {
		t.addRecords(key, asset)
		return
	}
	if len(t.w.s.Textures) == 0 {
		return
	}
	tile := t.w.tileID(key)
	x := t.w.s.Tiles[tile]
	level, lod := key.Rep.Level()
	switch {
	case lod && level < len(x.LODTextures):
		t.addNamed(key, t.w.tile(tile).Bounds, x.LODTextures[level])
	case key.Rep == payload.RepHLOD:
		t.addNamed(key, t.w.tile(tile).Bounds, x.HLODTextures)
	case key.Rep == payload.RepFull:
		if key.Part == 0 {
			t.addNamed(key, t.w.tile(tile).Bounds, x.Textures)
		}
		part := ""
		if key.Part > 0 {
			part = asset.Strings(asset.Entities[len(asset.Entities)-1].NameOffset)
		}
		for i := range x.Meshes {
			if m := &x.Meshes[i]; key.Part == 0 || m.Name == part {
				t.addNamed(key, m.Bounds, m.Textures)
			}
		}
	}
}

// addRecords registers the meshes of an asset by their records.
func (t *textureTier) addRecords(key payload.Key, asset *payload.Asset) {
	parts := asset.ChildParts()
	for i := range asset.Entities {
		e := &asset.Entities[i]
		for m := uint64(e.FirstMesh); m < min(uint64(e.FirstMesh)+uint64(e.MeshCount), uint64(len(asset.Meshes))); m++ {
			at := asset.Meshes[m].Material
			if uint64(at) >= uint64(len(asset.Materials)) {
				continue
			}
			t.slots = texture.MaterialSlots(t.slots[:0], &asset.Materials[at], asset.Textures, asset.Strings, asset.Dir)
			t.slots = t.slots[:len(t.slots)-1] // the height, which no renderer of ours draws
			t.addPart(key, manifest.BoundsOf(payload.BoxOf(e.WorldBounds)), asset, parts[e.ID])
		}
	}
}

// addNamed registers a box with textures of the scenario.
func (t *textureTier) addNamed(key payload.Key, box manifest.Bounds, names []string) {
	t.slots = t.slots[:0]
	for _, name := range names {
		t.slots = append(t.slots, texture.Slot{URI: name})
	}
	t.addPart(key, box, &payload.Asset{}, 0)
}

// addPart registers an entity with t.slots, of an asset or of a part of one.
func (t *textureTier) addPart(key payload.Key, box manifest.Bounds, asset *payload.Asset, part uint64) {
	if !slices.ContainsFunc(t.slots, func(s texture.Slot) bool { return s.URI != "" }) {
		return
	}
	at := t.w.boxAt(key.Scene, box)
	e := t.stream.Add(texture.Part{Min: at.Min, Max: at.Max, Fixed: key.Rep != payload.RepFull, Level: asset.Level, Levels: asset.Levels, Error: asset.Error, Burst: true, Slots: t.slots})
	t.entities[key] = append(t.entities[key], placed{e, part, box, at})
}

// move puts the entities of a scene where that is now.
func (t *textureTier) move(scene payload.SceneID) {
	for key, list := range t.entities {
		for i := range list {
			if p := &list[i]; key.Scene == scene {
				p.world = t.w.boxAt(scene, p.box)
				t.stream.Move(p.entity, p.world.Min, p.world.Max)
			}
		}
	}
}

// boxAt returns where a box of a scene is in the world.
func (w *model) boxAt(scene payload.SceneID, b manifest.Bounds) manifest.Bounds {
	if w.root == nil {
		return b
	}
	root := w.root(scene)
	if root == geom.Identity() {
		return b
	}
	return manifest.BoundsOf(b.Box().Transform(&root))
}

// remove takes out what the device no longer has.
func (t *textureTier) remove(key payload.Key) {
	for _, p := range t.entities[key] {
		t.stream.Remove(p.entity)
	}
	delete(t.entities, key)
}

// retryFrames is how many frames missing files of a remote scene, which follow
// their payloads, are left alone for.
const retryFrames = 60

// frame judges the textures of what is drawn in this frame.
func (t *textureTier) frame(camera runtime.Camera, drawn []runtime.Drawn, stats *runtime.Stats, drafts bool) {
	t.deliver()
	others := stats.TextureUsed
	t.stream.SetBudget(textureRoom(stats.TextureBudget, others))
	if (t.w.loader != nil || t.w.remote()) && t.w.frame%retryFrames == 0 {
		t.stream.Retry()
	}
	t.visible = t.visible[:0]
	if len(t.entities) > 0 && t.stream.Due(t.w.now) {
		f := camera.Frustum()
		for i := range drawn {
			for _, p := range t.entities[drawn[i].Key] {
				if f.Sees(p.world.Min, p.world.Max) {
					t.visible = append(t.visible, p.entity)
				}
			}
		}
	}
	v := t.view(camera)
	v.Busy, v.Draft = stats.ActiveLoads > 0, drafts
	t.stream.Update(v)
	t.peak = max(t.peak, t.used+others)
}

func (t *textureTier) view(camera runtime.Camera) texture.View {
	lines := t.w.s.Config.PictureHeight
	if t.w.draw != nil {
		lines = max(lines, float64(t.w.draw.Lines))
	}
	return texture.View{
		Now: t.w.now, Camera: geom.Vec3(camera.Position), Pixel: texture.PixelSize(camera.FovYDegrees, lines), Visible: t.visible,
	}
}

// follow takes over another manifest, by which other sizes may be wanted.
func (t *textureTier) follow(s *Scenario) {
	t.files = map[texture.Slot]*textureFile{}
	if p, scales, err := textureParams(s); err == nil && t.stream.SetParams(p) == nil {
		t.stream.SetScales(scales)
	}
}

// textureParams returns how the textures of a scenario are streamed.
func textureParams(s *Scenario) (config.Textures, texture.Scales, error) {
	return texture.ForScene(s.Config.Texture, s.Manifest)
}

// textureRoom returns what others leave of a budget; 0 for no limit.
func textureRoom(budget, others int64) int64 {
	if budget <= 0 {
		return 0
	}
	return max(1, budget-others)
}

// report adds the figures of this tier.
func (t *textureTier) report(r *Report) {
	st := t.stream.Stats()
	r.PeakTextureBytes = max(r.PeakTextureBytes, t.peak)
	r.TextureLoads, r.TextureUpgrades, r.TextureDowngrades = int(st.Loads), int(st.Upgrades), int(st.Downgrades)
	r.TextureFailures, r.TextureSheds, r.TextureRefusals = int(st.Failures)-t.early, int(st.Sheds), int(st.Refused)
	r.TextureBytesLoaded, r.TextureBytesRead, r.PeakTextureReserved = t.loaded, t.read, st.PeakReserved
	r.TexturesMinimum, r.TexturesMedium, r.TexturesFull = st.Minimum, st.Medium, st.Full
	r.TexturesMissing = st.Missing
}

// textureCounters are the counters of this tier that a scenario may expect.
var textureCounters = map[string]func(st *texture.Stats) float64{
	"textureLoads":      func(st *texture.Stats) float64 { return float64(st.Loads) },
	"textureUpgrades":   func(st *texture.Stats) float64 { return float64(st.Upgrades) },
	"textureDowngrades": func(st *texture.Stats) float64 { return float64(st.Downgrades) },
	"textureSheds":      func(st *texture.Stats) float64 { return float64(st.Sheds) },
	"textureRefusals":   func(st *texture.Stats) float64 { return float64(st.Refused) },
	"textureFailures":   func(st *texture.Stats) float64 { return float64(st.Failures) },
	"textureActiveOps":  func(st *texture.Stats) float64 { return float64(st.ActiveOps) },
	"texturesTracked":   func(st *texture.Stats) float64 { return float64(st.Tracked) },
	"texturesMinimum":   func(st *texture.Stats) float64 { return float64(st.Minimum) },
	"texturesMedium":    func(st *texture.Stats) float64 { return float64(st.Medium) },
	"texturesFull":      func(st *texture.Stats) float64 { return float64(st.Full) },
	"texturesMissing":   func(st *texture.Stats) float64 { return float64(st.Missing) },
	"textureStreamed":   func(st *texture.Stats) float64 { return float64(st.Bytes) },
	"textureReserved":   func(st *texture.Stats) float64 { return float64(st.Reserved) },
}

// counter returns a counter of this tier; ok is false for the others.
func (t *textureTier) counter(name string) (value float64, ok bool) {
	read, ok := textureCounters[name]
	if !ok || t == nil {
		return 0, ok
	}
	st := t.stream.Stats()
	return read(&st), true
}
