package cook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/cook/mesh"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestSpillFile: meshes of several owners come back as they were written, in any order,
// and blocks of those that are dropped are used again.
func TestSpillFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		var f spillFile
		defer f.close()
		owners := make([]spilled, rapid.IntRange(1, 4).Draw(t, "owners"))
		for round := range 3 {
			want := map[int][]*mesh.Mesh{}
			at := map[int][]spilledMesh{}
			for i := range owners {
				owners[i].to = &f
			}
			for range rapid.IntRange(1, 12).Draw(t, "meshes") {
				o := rapid.IntRange(0, len(owners)-1).Draw(t, "owner")
				m := anyMesh(rapid.IntRange(1, 9000).Draw(t, "vertices"), rapid.IntRange(0, 31).Draw(t, "attributes"))
				x, err := owners[o].write(m)
				if err != nil {
					t.Fatal(err)
				}
				want[o], at[o] = append(want[o], m), append(at[o], x)
			}
			for o := range owners {
				for k := range want[o] {
					got, err := owners[o].read(&at[o][len(at[o])-1-k])
					if err != nil || !reflect.DeepEqual(got, want[o][len(want[o])-1-k]) {
						t.Fatalf("round %d: owner %d, mesh %d differs, %v", round, o, k, err)
					}
				}
				owners[o].drop()
			}
			if n := int64(len(f.free)); n != f.blocks {
				t.Fatalf("%d of %d blocks are free", n, f.blocks)
			}
		}
	})
}

// anyMesh has those optional attributes whose bit is set.
func anyMesh(vertices, attributes int) *mesh.Mesh {
	m := &mesh.Mesh{Indices: make([]uint32, 3*(vertices/3))}
	for i := range m.Indices {
		m.Indices[i] = uint32(vertices - 1 - i)
	}
	for i := range vertices {
		v := float32(i)
		m.Positions = append(m.Positions, geom.Vec3{float64(v) / 3, -1, 1e-300})
		for bit, add := range []func(){
			func() { m.Normals = append(m.Normals, [3]float32{v, 1, 2}) },
			func() { m.Tangents = append(m.Tangents, [4]float32{1, v, 2, -1}) },
			func() { m.UV[0] = append(m.UV[0], [2]float32{v, 0.5}) },
			func() { m.UV[1] = append(m.UV[1], [2]float32{0.5, v}) },
			func() { m.Colors = append(m.Colors, [4]float32{v, 0, 1, 0.25}) },
		} {
			if attributes>>bit&1 != 0 {
				add()
			}
		}
	}
	return m
}

// TestPiecesWaitInAFile: pieces for which there is no room lie in a temporary file, which
// is gone in the end, also when the cook fails; where there is none, it says so.
func TestPiecesWaitInAFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("TMPDIR is not its name there")
	}
	scene := sheets(120, 16, 3).save(t)
	want, got := t.TempDir(), t.TempDir()
	mustRun(t, scene, want, ClassicOptions())
	tight := ClassicOptions()
	tight.Memory, tight.Jobs = 120_000, 3

	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	mustRun(t, scene, got, tight)
	if a, b := testfile.ReadTree(t, want), testfile.ReadTree(t, got); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("other bytes")
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := tight
	stopped.Progress = func(stage string, done, _ int) {
		if stage == "cook" && done > 2 {
			stop()
		}
	}
	if _, err := Run(ctx, scene, t.TempDir(), stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(tmp, "nowhere"))
	mustRun(t, scene, t.TempDir(), ClassicOptions()) // all pieces are in memory
	if _, err := Run(context.Background(), scene, t.TempDir(), tight); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder for temporary files: %v", err)
	}
}

// TestSkippedPieces: what a tile does not ask for is not kept for it.
func TestSkippedPieces(t *testing.T) {
	grid := [3]int{1, 0, 0}
	s := &splitter{limit: 1 << 20, room: &room{pieces: 1 << 20}}
	e := &splitEntry{left: 2, gone: map[[3]int]bool{{1, 0, 0}: true}, pieces: map[[3]int][]piece{}}
	for _, cell := range [][3]int{{0, 0, 0}, grid} {
		if err := s.keep(e, &part{}, &mesh.Piece{Cell: cell, Mesh: anyMesh(9, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if want := anyMesh(9, 0).Bytes(); s.held.Load() != want || s.kept.Load() != want || len(e.pieces) != 1 {
		t.Errorf("%d and %d bytes in %d cells are held, want %d in one", s.held.Load(), s.kept.Load(), len(e.pieces), want)
	}
}
