package cook

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// byHand are files that somebody has put among the textures, under names that no cook of
// the scenes below gives.
var byHand = map[string]string{
	"tiles/Textures/mine.png":            "a picture",
	"tiles/Textures/stone_old_hlod.utex": "like a small copy",
	"tiles/Textures/leaf.dds":            "for another program",
	"tiles/Textures/more/leaf.utex":      "in a folder",
}

// interrupt runs a cook that ends before its time: cancelled while it says how far it
// is, or killed at a call to its folder. It reports whether the cook ended well.
func interrupt(t *testing.T, rt *rapid.T, scene, out string, o Options) bool {
	t.Helper()
	o.Jobs = 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if rapid.Bool().Draw(rt, "killed") {
		d := &faultDir{at: rapid.IntRange(1, 400).Draw(rt, "call")}
		o.faults = func(f journal.FS) journal.FS { d.FS = f; return d }
	} else {
		stage := rapid.SampledFrom([]string{TextureStage, "cook"}).Draw(rt, "stage")
		at := rapid.IntRange(0, 4).Draw(rt, "at")
		o.Progress = func(s string, done, _ int) {
			if s == stage && done == at {
				cancel()
			}
		}
	}
	_, err := Run(ctx, scene, out, o)
	return err == nil
}

// TestTextureModesLeaveNothing: whatever modes and options earlier cooks into a folder
// had, and wherever some of them were stopped, a cook leaves the textures of a cook from
// nothing, and what somebody has put beside them.
func TestTextureModesLeaveNothing(t *testing.T) {
	scenes := []string{
		texturedHills(t, hillImages()...),
		texturedHills(t, embedded("leaf", pixels(40, 40, 4)), embedded("bumps", pixels(64, 64, 5)), embedded("gravel", pixels(50, 20, 2))),
	}
	base, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		if n++; n > 2 && race.Enabled || n > 10 {
			return
		}
		out := filepath.Join(base, rapidName(n))
		for name, text := range byHand {
			testfile.Write(t, filepath.Join(out, filepath.FromSlash(name)), text)
		}
		var history []string
		for range rapid.IntRange(2, 4).Draw(rt, "cooks") {
			scene := rapid.SampledFrom(scenes).Draw(rt, "scene")
			o := levelOptions()
			o.FitDistances, o.NoSync, o.LODs = false, true, nil
			o.Textures = rapid.SampledFrom([]TextureMode{TexturesCopy, TexturesResize, TexturesBC, TexturesASTC}).Draw(rt, "mode")
			if o.Textures != TexturesCopy {
				o.MaxTexture = rapid.SampledFrom([]int{0, 16, 48}).Draw(rt, "size")
			}
			if o.Textures == TexturesASTC && rapid.Bool().Draw(rt, "blocks") {
				o.ASTC.Block = [2]int{8, 8}
			}
			o.HLODMaxTexture = rapid.SampledFrom([]int{16, 32}).Draw(rt, "hlod size")
			switch rapid.SampledFrom([]string{"made", "atlas", "none", "not made"}).Draw(rt, "hlods") {
			case "atlas":
				o.HLODAtlas = true
			case "none":
				o.HLODs = nil
			case "not made":
				o.LODMinTriangles = 1 << 20
			}
			history = append(history, o.Textures.String())
			if rapid.IntRange(0, 2).Draw(rt, "interrupted") == 0 {
				if !interrupt(t, rt, scene, out, o) {
					history = append(history, "stopped")
				}
				if rapid.Bool().Draw(rt, "other mode after it") {
					o.Textures, o.MaxTexture, o.ASTC = TexturesBC, 0, ASTCOptions{}
					history = append(history, "bc")
				}
			}
			if _, err := Run(t.Context(), scene, out, o); err != nil {
				rt.Fatal(err)
			}
			o.Full = true
			fresh := filepath.Join(base, rapidName(n)+"-fresh")
			if err := os.RemoveAll(fresh); err != nil {
				rt.Fatal(err)
			}
			if _, err := Run(t.Context(), scene, fresh, o); err != nil {
				rt.Fatal(err)
			}
			want := testfile.ReadTree(t, fresh)
			for name := range want {
				if base := path.Base(name); o.LODMinTriangles > 1000 && strings.Contains(base, smallSuffix) && path.Base(path.Dir(name)) == texture.Folder {
					rt.Fatalf("%s is a small copy for HLODs that were not made", name)
				}
			}
			for name, text := range byHand {
				want[name] = text
			}
			if d := cmp.Diff(want, testfile.ReadTree(t, out)); d != "" {
				rt.Fatalf("after %v: %.2000s", history, d)
			}
		}
	})
}

func rapidName(n int) string { return "run" + string(rune('a'+n%26)) + string(rune('a'+n/26)) }

// TestDamagedScenesLeaveNothing: what an earlier cook has written goes although its
// manifest or containers cannot say what that was, as far as it is still what was written.
func TestDamagedScenesLeaveNothing(t *testing.T) {
	scene := texturedHills(t, hillImages()...)
	o := levelOptions()
	o.FitDistances, o.NoSync, o.LODs = false, true, nil
	fresh := t.TempDir()
	if _, err := Run(t.Context(), scene, fresh, o); err != nil {
		t.Fatal(err)
	}
	want := testfile.ReadTree(t, fresh)
	before := o
	before.Textures = TexturesBC
	for name, c := range map[string]struct {
		spoil func(dir string)
		stays map[string]string
	}{
		"no manifest": {spoil: func(dir string) {
			for _, m := range must(filepath.Glob(filepath.Join(dir, "*.json"))) {
				must0(t, os.Remove(m))
			}
		}},
		"damaged containers": {spoil: func(dir string) {
			for _, c := range must(filepath.Glob(filepath.Join(dir, "tiles", "*.untold"))) {
				testfile.Write(t, c, "x")
			}
		}},
		"both, and a texture that somebody has painted over": {
			spoil: func(dir string) {
				must0(t, os.RemoveAll(filepath.Join(dir, "tiles")))
				testfile.Write(t, filepath.Join(dir, "tiles", "Textures", "leaf.utex"), "painted")
			},
			stays: map[string]string{"tiles/Textures/leaf.utex": "painted"},
		},
	} {
		for _, full := range []bool{false, true} {
			if race.Enabled && full {
				continue // make test cooks both without the detector
			}
			out := t.TempDir()
			if _, err := Run(t.Context(), scene, out, before); err != nil {
				t.Fatal(err)
			}
			c.spoil(out)
			if name != "no manifest" {
				for _, m := range must(filepath.Glob(filepath.Join(out, "*.json"))) {
					must0(t, os.Remove(m))
				}
			}
			again := o
			again.Full = full
			if _, err := Run(t.Context(), scene, out, again); err != nil {
				t.Fatal(err)
			}
			got := testfile.ReadTree(t, out)
			for file, text := range c.stays {
				if got[file] != text {
					t.Errorf("%s: %s was removed", name, file)
				}
				delete(got, file)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, full %t: %.1000s", name, full, d)
			}
		}
	}
}
