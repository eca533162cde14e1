package cook

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
)

// cut is what a container has in a plane.
type cut struct {
	path   string
	across map[[2]geom.Vec3]bool // edges of triangles that end there; the lesser end first
	edges  map[[2]geom.Vec3]bool // of the border, after fold
	strips [][3]geom.Vec3        // triangles that lie in it
}

// cutOf reads a container.
func cutOf(t *testing.T, path string, axis int, plane float32) *cut {
	t.Helper()
	_, f := openFile(t, path)
	out := &cut{path: path, across: map[[2]geom.Vec3]bool{}}
	for i := range f.Meshes {
		m := &f.Meshes[i]
		at := func(k uint32) geom.Vec3 {
			return geom.FromF32(vertex.Get(f.Vertices[m.VertexOffset+uint64(k)*vertex.Size:]).Position)
		}
		indices := vertex.Indices(f.Indices[m.IndexOffset:][:m.IndexSize], m.IndexType)
		for k := 0; k+2 < len(indices); k += 3 {
			var in []geom.Vec3
			for _, v := range indices[k : k+3] {
				if p := at(v); float32(p[axis]) == plane {
					in = append(in, p)
				}
			}
			switch len(in) {
			case 2:
				out.across[segment(in[0], in[1])] = true
			case 3:
				out.strips = append(out.strips, [3]geom.Vec3(in))
			}
		}
	}
	return out
}

// fold adds to what ends in the plane what simplification laid into it, which counts
// from both sides and lies between places of the border.
func (c *cut) fold(places map[geom.Vec3]bool) {
	c.edges = maps.Clone(c.across)
	faces := map[[3]geom.Vec3]bool{}
	for _, f := range c.strips {
		if faces[turned(f[0], f[1], f[2])] = true; !faces[turned(f[0], f[2], f[1])] || !places[f[0]] || !places[f[1]] || !places[f[2]] {
			continue
		}
		for k := range f {
			if e := segment(f[k], f[(k+1)%3]); c.edges[e] {
				delete(c.edges, e)
			} else {
				c.edges[e] = true
			}
		}
	}
}

func segment(a, b geom.Vec3) [2]geom.Vec3 {
	if slices.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return [2]geom.Vec3{a, b}
}

// turned begins with the least corner.
func turned(a, b, c geom.Vec3) [3]geom.Vec3 {
	for slices.Compare(a[:], b[:]) > 0 || slices.Compare(a[:], c[:]) > 0 {
		a, b, c = b, c, a
	}
	return [3]geom.Vec3{a, b, c}
}

// placesOf returns the ends of edges.
func placesOf(edges ...map[[2]geom.Vec3]bool) map[geom.Vec3]bool {
	out := map[geom.Vec3]bool{}
	for _, m := range edges {
		for e := range m {
			out[e[0]], out[e[1]] = true, true
		}
	}
	return out
}

// span returns where a segment crosses a place along the border: the heights there.
func span(a, b geom.Vec3, along int, x float64) (y float64, ok bool) {
	if a[along] > b[along] {
		a, b = b, a
	}
	if x < a[along] || x > b[along] || a[along] == b[along] {
		return 0, false
	}
	part := (x - a[along]) / (b[along] - a[along])
	return a[1] + part*(b[1]-a[1]), true
}

// ground is the height of the edges of a height field.
func (c *cut) ground(along int, x float64) float64 {
	for e := range c.across {
		if y, ok := span(e[0], e[1], along, x); ok {
			return y
		}
	}
	return math.NaN()
}

// closed returns which heights strips close.
func (c *cut) closed(along int, x float64) (out [][2]float64) {
	for _, s := range c.strips {
		lo, hi := math.Inf(1), math.Inf(-1)
		for k := range s {
			if y, ok := span(s[k], s[(k+1)%3], along, x); ok {
				lo, hi = min(lo, y), max(hi, y)
			}
		}
		if lo <= hi {
			out = append(out, [2]float64{lo, hi})
		}
	}
	return out
}

// gap returns how much of the way between two heights no strip closes.
func gap(from, to float64, strips [][2]float64) float64 {
	from, to = min(from, to), max(from, to)
	slices.SortFunc(strips, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	open := 0.0
	for _, s := range strips {
		if s[0] > from {
			open += max(0, min(s[0], to)-from)
		}
		from = max(from, s[1])
	}
	return open + max(0, to-from)
}

// eachSide calls f for the tiles of a grid that share a side.
func eachSide(m *manifest.Manifest, f func(a, b *manifest.Tile, axis int, plane float32)) {
	byCoord := map[[3]int]*manifest.Tile{}
	for i := range m.Tiles {
		if c := m.Tiles[i].GridCoord; c != nil {
			byCoord[*c] = &m.Tiles[i]
		}
	}
	for i := range m.Tiles {
		a := &m.Tiles[i]
		if a.GridCoord == nil {
			continue
		}
		for _, axis := range []int{0, 2} {
			next := *a.GridCoord
			next[axis]++
			if b := byCoord[next]; b != nil {
				plane := a.CellBounds.Max[0]
				if axis == 2 { // tz counts along -Z
					plane = a.CellBounds.Min[2]
				}
				f(a, b, axis, float32(plane))
			}
		}
	}
}

// forms returns what a tile has in a plane, from full to coarse.
func forms(t *testing.T, dir string, e *manifest.Tile, axis int, plane float32) []*cut {
	t.Helper()
	out := []*cut{cutOf(t, filepath.Join(dir, e.Path), axis, plane)}
	for _, l := range append(slices.Clone(e.LODLevels), e.HLODLevels...) {
		out = append(out, cutOf(t, filepath.Join(dir, l.Path), axis, plane))
	}
	return out
}

// Neighbouring tiles have the same edges on their common border, bit for bit, on each
// level; the places of a coarser level are among those of the finer ones; and whatever
// two levels meet, what is open between them is closed, from both sides at most as far
// as the border of the full tiles.
func TestLevelBordersFit(t *testing.T) {
	o := levelOptions()
	res, dir := runLevels(t, hills(t, 48), o)
	pairs, moved, strips := 0, 0, 0
	eachSide(res.Manifest, func(a, b *manifest.Tile, axis int, plane float32) {
		fa, fb := forms(t, dir, a, axis, plane), forms(t, dir, b, axis, plane)
		if len(fa) != 4 || len(fb) != 4 || len(fa[0].across) < 16 {
			t.Fatalf("%s and %s: %d and %d forms, %d edges", a.ID, b.ID, len(fa), len(fb), len(fa[0].across))
		}
		for k := range fa {
			places := placesOf(fa[k].across, fb[k].across)
			fa[k].fold(places)
			fb[k].fold(places)
			assertSameEdges(t, fa[k], fb[k])
			if k > 0 {
				assertWithin(t, placesOf(fa[k].edges), placesOf(fa[k-1].edges), fa[k].path)
			}
			strips += len(fa[k].strips)
		}
		along := 2 - axis
		for i, x := range fa {
			for j, y := range fb {
				// What is not worth closing is an eighth of a pixel of each, across a slope.
				allowed := 1e-5
				for _, f := range []struct {
					k int
					e *manifest.Tile
				}{{i, a}, {j, b}} {
					if f.k > 0 {
						l := append(slices.Clone(f.e.LODLevels), f.e.HLODLevels...)[f.k-1]
						allowed += 1.5 * l.SwitchDistance * o.pixelAngle() * gapPixels
					}
				}
				for k := range 16 * 16 {
					at := min(a.CellBounds.Max[along], b.CellBounds.Max[along]) - (float64(k)+0.5)/16
					ya, yb := x.ground(along, at), y.ground(along, at)
					if ya != yb {
						moved++
					}
					if g := gap(ya, yb, append(x.closed(along, at), y.closed(along, at)...)); !(g <= allowed) {
						t.Fatalf("%s and %s: at %v %.4f m are open between %v and %v, %.4f may be", x.path, y.path, at, g, ya, yb, allowed)
					}
				}
			}
		}
		pairs++
	})
	if pairs != 12 || moved == 0 || strips == 0 {
		t.Errorf("%d pairs of neighbours, at %d places levels differ, %d triangles close gaps", pairs, moved, strips)
	}
}

func assertSameEdges(t *testing.T, a, b *cut) {
	t.Helper()
	for _, p := range []struct{ x, y *cut }{{a, b}, {b, a}} {
		for e := range p.x.edges {
			if !p.y.edges[e] {
				t.Fatalf("%s has the edge %v, %s has not", p.x.path, e, p.y.path)
			}
		}
	}
}

func assertWithin(t *testing.T, coarse, fine map[geom.Vec3]bool, path string) {
	t.Helper()
	for p := range coarse {
		if !fine[p] {
			t.Fatalf("%s: %v is no place of the finer level", path, p)
		}
	}
}

// A tile that is cooked without its neighbours is the same one to the last byte.
func TestLevelsOfTilesAlone(t *testing.T) {
	scene := hills(t, 48)
	o := DefaultOptions()
	o.WholeLimit, o.TileSize[0], o.TileSize[2], o.lookSide = 0, 16, 16, smallPictures
	_, dir := runLevels(t, scene, o)
	all := testfile.ReadTree(t, dir)
	for i, part := range []func(*Options){
		func(o *Options) { o.SampleFraction = 0.1 },
		func(o *Options) { o.PerimeterDepth = 1 },
	} {
		if i > 0 && race.Enabled {
			break // make test runs both without the detector
		}
		o := o
		part(&o)
		res, dir := runLevels(t, scene, o)
		if n := len(res.Manifest.Tiles); n == 0 || n == 9 {
			t.Fatalf("%d tiles", n)
		}
		levels := 0
		for path, is := range testfile.ReadTree(t, dir) {
			if filepath.Ext(path) != ".untold" {
				continue
			}
			if all[path] != is {
				t.Errorf("%s differs", path)
			}
			levels++
		}
		if levels <= 2*len(res.Manifest.Tiles) {
			t.Errorf("%d containers of %d tiles", levels, len(res.Manifest.Tiles))
		}
	}
}

// levelOf returns which level a container is: "" for a full tile.
func levelOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, k := range []string{"_lod1", "_lod2", "_hlod"} {
		if strings.HasSuffix(name, k) {
			return k
		}
	}
	return ""
}

// Of a city, where all sorts of things are cut, nearly all edges of a level are those of
// both tiles. What is left are small things that a level of one tile has lost, and what
// ends exactly at the side. Places of levels are places of the full tiles, bit for bit,
// and of the finer level.
func TestBordersOfACity(t *testing.T) {
	if race.Enabled {
		t.Skip("takes a minute; make test runs it without the race detector")
	}
	o := DefaultOptions()
	o.WholeLimit, o.TileSize[0], o.TileSize[2] = 0, 25, 25
	res, dir := runLevels(t, generated(t, "city", "-blocks", "1"), o)
	all, one, places, strange, late := map[string]int{}, map[string]int{}, 0, 0, 0
	eachSide(res.Manifest, func(a, b *manifest.Tile, axis int, plane float32) {
		fa, fb := forms(t, dir, a, axis, plane), forms(t, dir, b, axis, plane)
		full := placesOf(fa[0].across, fb[0].across)
		for _, list := range [][]*cut{fa, fb} {
			finer := full
			for _, f := range list {
				at := placesOf(f.across)
				for p := range at {
					if places++; !full[p] {
						strange++
					}
					if !finer[p] {
						late++
					}
				}
				finer = at
			}
		}
		for _, x := range fa {
			k := levelOf(x.path)
			i := slices.IndexFunc(fb, func(y *cut) bool { return levelOf(y.path) == k })
			if i < 0 {
				continue
			}
			y := fb[i]
			at := placesOf(x.across, y.across)
			x.fold(at)
			y.fold(at)
			for _, pair := range [][2]*cut{{x, y}, {y, x}} {
				for e := range pair[0].edges {
					if all[k]++; !pair[1].edges[e] {
						one[k]++
					}
				}
			}
		}
	})
	t.Logf("of one tile alone: %v of %v; of %d places %d are none of the full tiles, %d none of the finer level", one, all, places, strange, late)
	for k, n := range all {
		if n < 200 || float64(one[k]) > 0.01*float64(n) {
			t.Errorf("level %q: %d of %d edges are those of one tile alone", k, one[k], n)
		}
	}
	if len(all) != 4 || strange+late > 0 {
		t.Errorf("%d levels; of %d places %d are none of the full tiles, %d none of the finer level", len(all), places, strange, late)
	}
}
