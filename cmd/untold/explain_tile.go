package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/band"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/config"
)

// explainFlags are the flags of untold explain.
type explainFlags struct {
	camera      string
	fov, height float64
	asJSON      bool
}

func newExplain(a *app) *cobra.Command {
	f := explainFlags{fov: 60, height: 1080}
	cmd := &cobra.Command{
		Use:     "explain MANIFEST TILE",
		Short:   "Say when a tile is loaded, what it shows and what it costs",
		GroupID: "look",
		Long: `explain says of one tile of a cooked scene from which distance on it is fetched and wanted, which
of its levels is shown where and at what cost, in which order it is loaded, which nodes of the
pyramid stand in for it from afar, and which textures it shares with other tiles. Distances are
metres from the tile's box, those of nodes from the node's. With --camera it says what holds at one
place. The name "shared" stands for the shared bucket.

What a runtime does beside that depends on its parameters and on what else there is: budgets of
memory and of triangles in view, the view, what hides what. simulate shows it; manifest bands lists
the distances of all tiles, and cook --explain why a tile was made again.`,
		Example: `  untold explain out/city tile_3_0_3
  untold explain out/city/city.json tile_3_0_3 --camera 120,1.7,-40
  untold explain out/city tile_3_0_3 --json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args[0], args[1]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.camera, "camera", "", "X,Y,Z in metres: what holds for a camera there")
	fl.Float64Var(&f.fov, "fov", f.fov, "vertical field of view in degrees, for errors in pixels and nodes of the pyramid")
	fl.Float64Var(&f.height, "height", f.height, "height of the screen in pixels, for the same")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// tileStory is what explain says of a tile. Distances are metres; null is none, or no
// end.
type tileStory struct {
	Manifest string           `json:"manifest"`
	Tile     string           `json:"tile_id"`
	Tier     string           `json:"semantic_tier,omitempty"`
	Shared   bool             `json:"shared_bucket,omitempty"`
	Interior bool             `json:"interior,omitempty"`
	Objects  int              `json:"objects"`
	Bounds   manifest.Bounds  `json:"bounds"`
	Prefetch *float64         `json:"prefetch"`  // fetched from here on
	Wanted   *float64         `json:"streaming"` // full within
	Unload   *float64         `json:"unload"`
	Priority int              `json:"priority"`
	Ahead    int              `json:"tiles_of_higher_priority"`
	Shows    []representation `json:"shows"`
	Nodes    []nodeAbove      `json:"nodes"`
	Textures []sharedTexture  `json:"textures"`
	Camera   *tileFrom        `json:"camera,omitempty"`
}

// representation is the full tile or one of its levels, and where it is shown.
type representation struct {
	Name      string   `json:"name"` // full, lod1 ... or hlod
	From      float64  `json:"from"`
	To        *float64 `json:"to"`
	Never     bool     `json:"never,omitempty"` // another one is shown wherever this one would be
	Triangles int      `json:"triangles"`
	Bytes     int64    `json:"bytes"`
	GPUBytes  *int64   `json:"gpu_bytes"` // geometry; null where the file cannot be read
	Textures  int      `json:"textures"`
	Pixels    *float64 `json:"error_pixels"` // height of its error where it begins

	uris []string
}

// nodeAbove is a node of the pyramid that shows the tile while nothing finer is wanted.
type nodeAbove struct {
	ID        string  `json:"node_id"`
	Level     int     `json:"level"`
	Beyond    float64 `json:"beyond"` // of the node's box
	Tiles     int     `json:"tiles"`  // that it stands in for
	Triangles int     `json:"triangles"`
	Bytes     int64   `json:"bytes"`
	GPUBytes  int64   `json:"gpu_bytes"`
}

// sharedTexture is a texture of the full tile.
type sharedTexture struct {
	URI    string   `json:"uri"`
	Bytes  int64    `json:"bytes"` // of its file, 0 where that is not there
	Others []string `json:"other_tiles"`
}

// tileFrom is what holds at one place.
type tileFrom struct {
	Position [3]float64 `json:"position"`
	Distance float64    `json:"distance"`
	Shows    string     `json:"shows"` // the name of a representation or a node, "" for nothing
}

func (f *explainFlags) run(ctx context.Context, a *app, arg, id string) error {
	if !(f.fov > 0 && f.fov < 180) || !(f.height >= 1) || math.IsInf(f.height, 0) {
		return errors.New("--fov must be between 0 and 180 degrees, --height at least 1 pixel")
	}
	var camera *geom.Vec3
	if f.camera != "" {
		v, err := parsePosition(f.camera)
		if err != nil {
			return fmt.Errorf("--camera %w", err)
		}
		camera = &v
	}
	path, err := manifestPath("explain", " TILE", arg)
	if err != nil {
		return err
	}
	m, err := manifest.LoadPlanned(path)
	if err != nil {
		return judgedManifest(err)
	}
	s, err := f.story(ctx, path, m, id, camera)
	if err != nil {
		return err
	}
	if f.asJSON {
		return writeJSON(a.stdout, s)
	}
	return s.print(a)
}

// parsePosition reads X,Y,Z.
func parsePosition(text string) (v geom.Vec3, err error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return v, fmt.Errorf("is %q; write X,Y,Z in metres", text)
	}
	for i, p := range parts {
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(p), 64); err != nil || math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return v, fmt.Errorf("is %q; write X,Y,Z in metres", text)
		}
	}
	return v, nil
}

// tileOf finds a tile, or the shared bucket.
func tileOf(m *manifest.Manifest, id string) (t *manifest.Tile, shared bool, err error) {
	if i := slices.IndexFunc(m.Tiles, func(t manifest.Tile) bool { return t.ID == id }); i >= 0 {
		return &m.Tiles[i], false, nil
	}
	if s := m.SharedBucket; s != nil && (id == "shared" || id == s.ID) {
		return &s.Tile, true, nil
	}
	var names []string
	for i := range m.Tiles {
		names = append(names, m.Tiles[i].ID)
	}
	return nil, false, fmt.Errorf("the manifest has no tile %q (untold manifest bands lists them)%s", id, nearestOf(id, names))
}

func (f *explainFlags) story(ctx context.Context, path string, m *manifest.Manifest, id string, camera *geom.Vec3) (*tileStory, error) {
	t, shared, err := tileOf(m, id)
	if err != nil {
		return nil, err
	}
	all := bandsOfTiles(m)
	e := &all[slices.IndexFunc(all, func(e tileBands) bool { return e.id == t.ID && e.shared == shared })]
	b := &e.written
	d := distancesOf(*b)
	s := &tileStory{
		Manifest: path, Tile: t.ID, Tier: t.SemanticTier, Shared: shared, Interior: t.Interior, Objects: len(t.Objects), Bounds: t.Bounds,
		Prefetch: d.Prefetch, Wanted: d.Streaming, Unload: d.Unload, Priority: m.PriorityOf(t), Nodes: []nodeAbove{}, Textures: []sharedTexture{},
	}
	if t.ObjectCount != nil {
		s.Objects = *t.ObjectCount
	}
	for i := range m.Tiles {
		if m.PriorityOf(&m.Tiles[i]) > s.Priority {
			s.Ahead++
		}
	}
	dir := filepath.Dir(path)
	s.Shows = f.shows(dir, t, e)
	if !shared {
		s.Nodes = f.nodesAbove(m, t.ID)
	}
	if s.Textures, err = sharedTextures(ctx, dir, m, t, s.Shows[0].uris); err != nil {
		return nil, err
	}
	if camera != nil {
		s.Camera = s.from(m, *camera)
	}
	return s, nil
}

// shows lists what a tile can show, nearest first: the full tile within the streaming
// radius and up to the first level, each level up to the next one. The coarsest has no
// end of its own.
func (f *explainFlags) shows(dir string, t *manifest.Tile, e *tileBands) []representation {
	b := &e.written
	full := representation{Name: "full", Triangles: t.TriangleCount, Bytes: t.FileSizeBytes}
	full.read(dir, t.Path)
	list := []representation{full}
	lods := slices.Clone(t.LODLevels)
	slices.SortStableFunc(lods, func(x, y manifest.Level) int {
		return cmp.Compare(x.SwitchDistance, y.SwitchDistance)
	})
	add := func(name string, l *manifest.Level, geometric float64) {
		r := representation{Name: name, From: l.SwitchDistance, Triangles: l.TriangleCount, Bytes: l.FileSizeBytes}
		if px := geom.Round(band.ScreenError(geometric, l.SwitchDistance, f.fov, f.height), 2); !math.IsNaN(px) && !math.IsInf(px, 0) {
			r.Pixels = &px
		}
		r.read(dir, l.Path)
		list = append(list, r)
	}
	for i := range lods {
		if i < len(b.LODs) {
			add(fmt.Sprintf("lod%d", i+1), &lods[i], e.lodErrors[i])
		}
	}
	if b.HLOD != 0 {
		add("hlod", &t.HLODLevels[0], e.hlodError)
	}
	end := b.Unload
	if len(list) > 1 {
		end = math.Inf(1)
	}
	for i := len(list) - 1; i >= 0; i-- {
		r := &list[i]
		if i > 0 {
			r.From = max(r.From, b.Streaming)
		}
		if r.Never = i > 0 && r.From >= end; r.Never {
			continue
		}
		if !math.IsInf(end, 1) {
			to := end
			r.To = &to
		}
		end = r.From
	}
	return list
}

// read adds what the file itself says. A dry run has none.
func (r *representation) read(dir, rel string) {
	p, err := payloadpath.Resolve(dir, rel)
	if err != nil {
		return
	}
	c, err := format.Open(p)
	if err != nil {
		return
	}
	defer c.Close()
	gpu, triangles := int64(0), 0
	for _, m := range c.Meshes() {
		gpu += int64(m.EstimatedGPUBytes)
		triangles += int(m.IndexCount) / 3
	}
	r.GPUBytes = &gpu
	if r.Triangles == 0 {
		r.Triangles = triangles
	}
	r.uris = texturesOf(c)
	r.Textures = len(r.uris)
}

// texturesOf are the names of a container's textures, sorted, each once.
func texturesOf(c *format.Reader) (list []string) {
	for _, x := range c.Textures() {
		list = append(list, c.String(x.URIOffset))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// nodesAbove lists the nodes above a tile from below: each stands in for what is below
// it where its error is at most the target on the screen.
func (f *explainFlags) nodesAbove(m *manifest.Manifest, id string) []nodeAbove {
	list := []nodeAbove{}
	if m.Pyramid == nil {
		return list
	}
	target := config.Default().TargetErrorPixels
	tiles := map[string]int{} // below each node; children come before their parents
	for i := range m.Pyramid.Nodes {
		n := &m.Pyramid.Nodes[i]
		for _, c := range n.Children {
			tiles[n.ID] += max(1, tiles[c])
		}
		if !slices.Contains(n.Children, id) {
			continue
		}
		id = n.ID
		// The error is so many pixels high a metre away, and less with the distance.
		beyond := band.ScreenError(n.VisualError, 1, f.fov, f.height) / target
		list = append(list, nodeAbove{n.ID, n.Level, band.Round(beyond), tiles[n.ID], n.TriangleCount, n.FileSizeBytes, n.EstimatedMemoryBytes})
	}
	return list
}

// sharedTextures lists a tile's textures, and in which other tiles they are.
func sharedTextures(ctx context.Context, dir string, m *manifest.Manifest, t *manifest.Tile, uris []string) ([]sharedTexture, error) {
	list := []sharedTexture{}
	folder := filepath.Dir(filepath.Join(dir, filepath.FromSlash(t.Path)))
	for _, uri := range uris {
		x := sharedTexture{URI: uri, Others: []string{}}
		if p, err := payloadpath.Resolve(folder, uri); err == nil {
			if st, err := os.Stat(p); err == nil {
				x.Bytes = st.Size()
			}
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		return list, nil
	}
	for i := range m.Tiles {
		o := &m.Tiles[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.ID == t.ID {
			continue
		}
		var r representation
		r.read(dir, o.Path)
		for k := range list {
			if _, there := slices.BinarySearch(r.uris, list[k].URI); there {
				list[k].Others = append(list[k].Others, o.ID)
			}
		}
	}
	return list, nil
}

// from says what a camera at a place is shown: the highest node that is far enough
// away, else what the distance from the tile asks for.
func (s *tileStory) from(m *manifest.Manifest, camera geom.Vec3) *tileFrom {
	at := &tileFrom{Position: camera, Distance: geom.Round(s.Bounds.Box().Distance(camera), 3)}
	for i := range s.Shows {
		if r := &s.Shows[i]; !r.Never && at.Distance >= r.From && (r.To == nil || at.Distance <= *r.To) {
			at.Shows = r.Name
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		k := slices.IndexFunc(m.Pyramid.Nodes, func(x manifest.PyramidNode) bool { return x.ID == n.ID })
		if m.Pyramid.Nodes[k].Bounds.Box().Distance(camera) >= n.Beyond {
			at.Shows = n.ID
		}
	}
	return at
}
