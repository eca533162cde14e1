package preview

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// TestTilesFadeIn: what comes where nothing was becomes opaque bit by bit, in the
// same way in every run, and is whole in the picture at the end; not with --whole,
// nor without fades.
func TestTilesFadeIn(t *testing.T) {
	dir := writeTown(t, t.TempDir(), 3)
	fly := func(fades, whole bool, frames int) (all [][]runtime.Drawn) {
		o := options(t, dir)
		o.Config.EnableFadeTransitions, o.Whole = fades, whole
		o.Screenshot = filepath.Join(t.TempDir(), "end.png")
		play(t, o, frames, nil, func(f render.Frame) { all = append(all, slices.Clone(f.Drawn)) })
		return all
	}
	half := func(list []runtime.Drawn) (n int) {
		for i := range list {
			if list[i].Fade < 1 {
				n++
			}
		}
		return n
	}
	const frames = 200
	all := fly(true, false, frames)
	last, faded := map[payload.Key]float64{}, 0
	for k, list := range all {
		for _, d := range list {
			before, known := last[d.Key]
			if !known && (d.Fade >= 1 || d.Fade <= 0) && d.Rep == payload.RepFull && !hasTile(last, d.Key) {
				t.Fatalf("frame %d: %v comes with opacity %g", k, d.Key, d.Fade)
			}
			if known && d.Fade < before && len(list) == len(last) {
				t.Fatalf("frame %d: %v goes from %g to %g", k, d.Key, before, d.Fade)
			}
		}
		faded += half(list)
		clear(last)
		for _, d := range list {
			last[d.Key] = d.Fade
		}
	}
	if faded == 0 || half(all[frames-1]) > 0 {
		t.Errorf("%d fade in, %d are not there at the end", faded, half(all[frames-1]))
	}
	if again := fly(true, false, frames); !slices.EqualFunc(all, again, func(a, b []runtime.Drawn) bool { return slices.Equal(a, b) }) {
		t.Error("two runs differ")
	}
	// Half faded in the last frame, whole in the picture of it.
	first := slices.IndexFunc(all, func(l []runtime.Drawn) bool { return half(l) > 0 })
	short := fly(true, false, first+1)
	if n := len(short); half(short[n-2]) == 0 || half(short[n-1]) > 0 {
		t.Errorf("%d fade in the last frame, %d in its picture", half(short[n-2]), half(short[n-1]))
	}
	for _, c := range [][2]bool{{true, true}, {false, false}} {
		for _, list := range fly(c[0], c[1], 60) {
			if half(list) > 0 {
				t.Fatalf("fades %t, whole %t: something fades", c[0], c[1])
			}
		}
	}
}

// TestTilesFadeOut: what goes without a successor becomes transparent bit by bit
// until then, and is there for exactly as long as without fades.
func TestTilesFadeOut(t *testing.T) {
	path := writeTown(t, t.TempDir(), 2)
	m, err := manifest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Tiles {
		m.Tiles[i].LODLevels, m.Tiles[i].HLODLevels = nil, nil
	}
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	fly := func(fades bool) (all [][]runtime.Drawn) {
		o := options(t, path)
		o.Config.EnableFadeTransitions = fades
		o.Path = standing(30, 5, 10, geom.Vec3{0, 0, -1})
		o.Path.Keys[0].T, o.Path.Keys[1].T, o.Path.Keys[1].Position = 0, 20*time.Second, geom.Vec3{30, 5, 400}
		o.Path.Keys[1].Linear = true
		play(t, o, 420, nil, func(f render.Frame) { all = append(all, slices.Clone(f.Drawn)) })
		return all
	}
	plain, faded := fly(false), fly(true)
	opacity, gone := map[payload.Key]float64{}, 0
	for k := range faded {
		if len(plain[k]) != len(faded[k]) {
			t.Fatalf("frame %d: %d tiles with fades, %d without", k, len(faded[k]), len(plain[k]))
		}
		now := map[payload.Key]float64{}
		for i, d := range faded[k] {
			if d.Key != plain[k][i].Key {
				t.Fatalf("frame %d: %v with fades, %v without", k, d.Key, plain[k][i].Key)
			}
			now[d.Key] = d.Fade
		}
		for key, before := range opacity {
			after := now[key] // 0 when it has gone
			if before-after > 0.2 {
				t.Fatalf("frame %d: %v goes from %g to %g", k, key, before, after)
			}
			if _, ok := now[key]; !ok {
				gone++
			}
		}
		opacity = now
	}
	if gone != 4 {
		t.Errorf("%d tiles of 4 went", gone)
	}
}

// TestTilesThatStayFadeBack: a tile that is wanted again in its grace period goes on
// from where its fade was, and what has no grace period has no fade.
func TestTilesThatStayFadeBack(t *testing.T) {
	const ms = time.Millisecond
	key := payload.Key{Scene: 1, Tile: 3, Rep: payload.RepFull}
	f := appear{on: true, length: 300 * ms, grace: 3000 * ms}
	at := func(now time.Duration) float64 {
		list := []runtime.Drawn{{Key: key, Fade: 1}}
		f.fadeIn(list, 1, now, 50*ms)
		return list[0].Fade
	}
	tile := tileKey{1, 3}
	for now := time.Duration(0); now < 1000*ms; now += 50 * ms {
		at(now)
	}
	f.leave(tile, 1000*ms)
	for now := 1000 * ms; now < 3900*ms; now += 50 * ms {
		if got, want := at(now), min(1, float64(4000*ms-now)/float64(300*ms)); got < want-1e-9 || got > want+1e-9 {
			t.Fatalf("at %v: %v, want %v", now, got, want)
		}
	}
	f.stay(tile, 3900*ms)
	for now := 3900 * ms; now < 5000*ms; now += 50 * ms {
		if got, want := at(now), min(1, float64(now-3800*ms)/float64(300*ms)); got < want-1e-6 || got > want+1e-6 {
			t.Fatalf("at %v: %v, want %v", now, got, want)
		}
	}
	f.grace = 0
	f.leave(tile, 5000*ms)
	if got := at(5050 * ms); got != 1 {
		t.Errorf("without a grace period: %v", got)
	}
	f.least = 8000 * ms
	f.leave(tile, 5050*ms) // it has come at 3.8 s, by its fade
	if got := at(11650 * ms); got < 0.49 || got > 0.51 {
		t.Errorf("kept for its residence: %v", got)
	}
}

func hasTile(m map[payload.Key]float64, key payload.Key) bool {
	for k := range m {
		if k.Scene == key.Scene && k.Tile == key.Tile {
			return true
		}
	}
	return false
}
