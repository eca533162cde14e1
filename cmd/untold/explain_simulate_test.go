package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/simulate"
)

// told is what explain says of every tile of a scene, by their ids.
type told struct {
	path  string
	m     *manifest.Manifest
	tiles map[string]*tileStory
}

func tellAll(t *testing.T, path string) *told {
	t.Helper()
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	x := &told{path, m, map[string]*tileStory{}}
	f := explainFlags{fov: 60, height: 1080}
	for i := range m.Tiles {
		if x.tiles[m.Tiles[i].ID], err = f.story(t.Context(), path, m, m.Tiles[i].ID, nil); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// size is what explain says that a representation of a tile, or a node, takes.
func (x *told) size(t *testing.T, id, rep string) int64 {
	t.Helper()
	if s := x.tiles[id]; s != nil {
		for i := range s.Shows {
			if s.Shows[i].Name == rep {
				return s.Shows[i].Bytes
			}
		}
	}
	for _, s := range x.tiles {
		for _, n := range s.Nodes {
			if n.ID == id {
				return n.Bytes
			}
		}
	}
	t.Fatalf("explain knows no %s of %s", rep, id)
	return 0
}

// flown is what a simulation did.
type flown struct {
	*simulate.Report
	drawn map[string]string // what each tile and node shows at the end: full, lod1, hlod; "" for nothing
	loads []loadOf
}

type loadOf struct {
	at        time.Duration
	tile, rep string
}

// stream runs a scene without a network along a path: what is wanted is there after a
// moment.
func (x *told) stream(t *testing.T, keys ...simulate.CameraKey) *flown {
	t.Helper()
	sc, err := simulate.Load(x.path)
	if err != nil {
		t.Fatal(err)
	}
	sc.Path = simulate.CameraPath{Keys: keys, FovYDegrees: 60, Aspect: 16. / 9, Near: 0.1, Far: 1000}
	sc.Path.SeeAll(sc.Manifest)
	sc.Config.EnableFrustumGate = false // explain looks in all directions
	sc.Duration = keys[len(keys)-1].T
	s := &flown{drawn: map[string]string{}}
	r, err := simulate.Run(context.Background(), sc, simulate.Options{OnRecord: func(r *simulate.Record) error {
		word, level := map[string]string{}, -1
		for _, k := range r.Keys {
			switch v := k.Value.(type) {
			case string:
				word[k.Name] = v
			case float64:
				if k.Name == "level" {
					level = int(v)
				}
			}
		}
		tile, load := word["tile"], ""
		switch r.Event {
		case "tile.dispatch":
			load = "full"
		case "hlod.load":
			load = "hlod"
		case "lod.load":
			load = fmt.Sprintf("lod%d", level+1)
		case "drawn":
			// The runtime counts levels from 0.
			s.drawn[tile] = strings.NewReplacer("none", "", "lod0", "lod1", "lod1", "lod2", "lod2", "lod3").Replace(word["rep"])
		}
		if load != "" {
			s.loads = append(s.loads, loadOf{r.T, tile, load})
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Report = &r.Report
	return s
}

// explainedScenes are one with levels and one with a pyramid.
func explainedScenes(t *testing.T) map[string]*told {
	t.Helper()
	city := generated(t, "city", "-textures=false", "-blocks", "1")
	levels, err := once("explained city", func(dir string) (string, error) {
		if r := execute(t, nil, "cook", city, "-o", dir, "-q", "--sync=false", "--tile-size", "80", "--whole-limit", "0"); r.code != 0 {
			return "", errors.New(r.err)
		}
		return filepath.Join(dir, "city.json"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*told{
		"levels":  tellAll(t, levels),
		"pyramid": tellAll(t, filepath.Join(cooked(t, "--tile-size", "25", "--whole-limit", "0", "--pyramid=on"), "yard.json")),
	}
}

// TestExplainIsSimulate: from where a camera stands, every tile shows what explain --camera
// says, and what was loaded takes the bytes that explain says.
func TestExplainIsSimulate(t *testing.T) {
	for name, x := range explainedScenes(t) {
		box := simulate.TileBounds(x.m)
		middle := box.Center()
		kinds := map[string]int{}
		for _, away := range []float64{0, 30, 60, 120, 300, 700, 2000, 20_000} {
			eye := geom.Vec3{middle[0] + away, middle[1] + 2, middle[2] + away/3}
			s := x.stream(t, simulate.CameraKey{Position: eye, Forward: geom.Vec3{-1, 0, -0.3}}, simulate.CameraKey{T: 8 * time.Second, Position: eye, Forward: geom.Vec3{-1, 0, -0.3}})
			for i := range x.m.Tiles {
				id := x.m.Tiles[i].ID
				at := x.tiles[id].from(x.m, eye)
				if at.Shows == "full" || at.Shows == "" || strings.HasPrefix(at.Shows, "lod") || at.Shows == "hlod" {
					if got := s.drawn[id]; got != at.Shows {
						t.Errorf("%s: %g m off: %s, %g m away, shows %q; explain says %q", name, away, id, at.Distance, got, at.Shows)
					}
				} else if got := s.drawn[at.Shows]; got == "" || s.drawn[id] != "" {
					t.Errorf("%s: %g m off: %s shows %q; explain says the node %s, which shows %q", name, away, id, s.drawn[id], at.Shows, got)
				} else {
					kinds["node"]++
					continue
				}
				kinds[at.Shows]++
			}
			bytes := int64(0)
			for _, l := range s.loads {
				bytes += x.size(t, l.tile, l.rep)
			}
			if bytes != s.BytesLoaded {
				t.Errorf("%s: %g m off: %d bytes were loaded; explain says %d of %v", name, away, s.BytesLoaded, bytes, s.loads)
			}
		}
		t.Logf("%s: %v", name, kinds)
		for _, kind := range map[string][]string{"levels": {"full", "lod1", "lod2", "hlod"}, "pyramid": {"full", "node"}}[name] {
			if kinds[kind] == 0 {
				t.Errorf("%s: no camera is shown %s: %v", name, kind, kinds)
			}
		}
	}
}

// TestExplainOnTheWay: along a path nothing is loaded where explain says that it is not
// wanted. What comes nearer is asked for a moment before, and what goes away keeps its
// level a little longer.
func TestExplainOnTheWay(t *testing.T) {
	const speed, slack = 40, 1.25
	for name, x := range explainedScenes(t) {
		box := simulate.TileBounds(x.m)
		middle := box.Center()
		for _, z := range []float64{middle[2], middle[2] + 100} {
			from, to := geom.Vec3{box.Min[0] - 400, middle[1], z}, geom.Vec3{box.Max[0] + 400, middle[1], z}
			length := to.Sub(from).Len()
			end := time.Duration(length / speed * float64(time.Second))
			s := x.stream(t, simulate.CameraKey{Position: from, Forward: to.Sub(from)}, simulate.CameraKey{T: end, Position: to, Forward: to.Sub(from), Linear: true})
			checked := 0
			for _, l := range s.loads {
				story := x.tiles[l.tile]
				if story == nil {
					continue // a node
				}
				part := float64(l.at) / float64(end)
				eye := geom.Vec3{from[0] + float64(part*(to[0]-from[0])), middle[1], z}
				d := story.Bounds.Box().Distance(eye)
				for i := range story.Shows {
					r := &story.Shows[i]
					if r.Name != l.rep {
						continue
					}
					checked++
					if r.Never || d < r.From/slack-speed/10 || r.To != nil && d > max(*r.To, *story.Prefetch)*slack+speed/10 {
						t.Errorf("%s: %s of %s is loaded %g m away; explain says %+v", name, l.rep, l.tile, d, r)
					}
				}
			}
			if z == middle[2] && checked < len(x.m.Tiles) { // beside it nodes may do
				t.Errorf("%s: %d loads of tiles on the way past %d tiles", name, checked, len(x.m.Tiles))
			}
		}
	}
}
