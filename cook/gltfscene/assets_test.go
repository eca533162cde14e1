package gltfscene

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/untoldkit/untold/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite testdata/outcomes.tsv")

// shared returns the folder of the shared assets or skips the test.
func shared(t testing.TB) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "assets")
	if _, err := os.Stat(filepath.Join(dir, "INVENTORY.tsv")); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	return dir
}

// eachAsset calls f for every .gltf and .glb below the shared assets.
func eachAsset(t *testing.T, f func(name, path string)) {
	t.Helper()
	root := shared(t)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(p); err == nil && !d.IsDir() && (ext == ".gltf" || ext == ".glb") {
			rel, _ := filepath.Rel(root, p)
			f(filepath.ToSlash(rel), p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var sentinels = []struct {
	name string
	err  error
}{
	{"malformed", ErrMalformed},
	{"unsupported", ErrUnsupported},
	{"missing", ErrMissingFile},
	{"outside", ErrOutsideFolder},
	{"too-large", ErrTooLarge},
	{"no-scene", ErrNoSuchScene},
}

// outcome describes a load in one line without paths of this machine.
func outcome(path string, s *Scene, err error) string {
	if err == nil {
		var notes []string
		for _, n := range s.Notes {
			where := ""
			if strings.HasSuffix(n.Code, "-faulty") {
				where = "@" + n.Where + ":" + n.Message
			}
			notes = append(notes, fmt.Sprintf("%s*%d%s", n.Code, n.Count, where))
		}
		return fmt.Sprintf("ok\t%d\t%d\t%s", s.Triangles(), len(s.Nodes), strings.Join(notes, " "))
	}
	kind := "other"
	for _, k := range sentinels {
		if errors.Is(err, k.err) {
			kind = k.name
			break
		}
	}
	text := strings.TrimPrefix(err.Error(), path+": ")
	text, _, _ = strings.Cut(text, " (looked for")
	return kind + "\t" + text
}

// TestAssets pins what becomes of every shared asset. Run with -update after
// a change that is meant, and review the difference.
func TestAssets(t *testing.T) {
	const golden = "testdata/outcomes.tsv"
	var got strings.Builder
	eachAsset(t, func(name, path string) {
		s, err := Load(context.Background(), path, DefaultOptions())
		if err == nil {
			checkScene(t, s)
		}
		line := outcome(path, s, err)
		if strings.ContainsAny(line, "\n\r") {
			t.Errorf("%s: not one line: %q", name, line)
		}
		fmt.Fprintf(&got, "%s\t%s\n", name, line)
	})
	if *update {
		testfile.Write(t, golden, got.String())
	}
	want := testfile.Read(t, golden)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("outcomes changed (-want +got), see -update:\n%s", diff)
	}
}

// TestAssetsInventory compares drawn triangles and bounds with figures that
// another program measured.
func TestAssetsInventory(t *testing.T) {
	root := shared(t)
	data := testfile.Read(t, filepath.Join(root, "INVENTORY.tsv"))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	column := map[string]int{}
	for i, name := range strings.Split(lines[0], "\t") {
		column[name] = i
	}
	compared := 0
	for _, line := range lines[1:] {
		row := strings.Split(line, "\t")
		name := row[0]
		if strings.HasPrefix(name, "invalid/") || strings.HasPrefix(name, "validator-") {
			continue
		}
		s, err := Load(context.Background(), filepath.Join(root, filepath.FromSlash(name)), DefaultOptions())
		if err != nil {
			continue // pinned by TestAssets
		}
		if got := strconv.Itoa(s.Triangles()); note(s, "texture-wrap-cut").Count == 0 && got != row[column["drawn_tris"]] {
			t.Errorf("%s: %s triangles drawn, the inventory says %s", name, got, row[column["drawn_tris"]])
		}
		compared++
		// The inventory neither expands instances nor normalises rotations, and poses nothing.
		odd := remade(s) || strings.Contains(strings.ToLower(name), "gpu") || strings.Contains(name, "Cameras")
		if lo := row[column["min"]]; lo != "" && s.Triangles() > 0 && !odd {
			checkBounds(t, name, s, lo, row[column["max"]])
		}
	}
	if compared < 150 {
		t.Errorf("only %d files compared", compared)
	}
}

// remade reports whether some meshes are not as they are stored.
func remade(s *Scene) bool {
	return note(s, "skins-posed").Count+note(s, "morph-targets-posed").Count+note(s, "texture-wrap-cut").Count > 0
}

// checkBounds verifies that all vertices lie within the inventory's bounds,
// which are those of the accessors' boxes, with four digits.
func checkBounds(t *testing.T, name string, s *Scene, lo, hi string) {
	t.Helper()
	var box [2][3]float64
	for i := range 3 {
		box[0][i], box[1][i] = math.Inf(1), math.Inf(-1)
	}
	for _, n := range s.Nodes {
		if n.Mesh < 0 {
			continue
		}
		for _, p := range s.Meshes[n.Mesh].Primitives {
			for _, v := range p.Positions {
				w := n.World.Point([3]float64{float64(v[0]), float64(v[1]), float64(v[2])})
				for i := range 3 {
					box[0][i], box[1][i] = min(box[0][i], w[i]), max(box[1][i], w[i])
				}
			}
		}
	}
	for side, text := range []string{lo, hi} {
		for i, field := range strings.Fields(text) {
			want, err := strconv.ParseFloat(field, 64)
			size := max(math.Abs(box[0][i]), math.Abs(box[1][i]), 1e-3)
			excess := (want - box[side][i]) * float64(1-2*side)
			if err != nil || excess > 2e-3*size {
				t.Errorf("%s: bound %d of axis %d is %v, the inventory says %s", name, side, i, box[side][i], field)
				return
			}
		}
	}
}
