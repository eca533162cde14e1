package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/untoldkit/untold/internal/glbwrite"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestCutWithinMemory: objects of millions of triangles that hundreds of tiles cut take no
// more than --memory, by what the kernel counts, and the bytes stay the same: also if all
// triangles are one primitive's. A bound within which that cannot be is refused, and what
// the refusal says to be enough is.
func TestCutWithinMemory(t *testing.T) {
	underTest(t)
	for name, c := range map[string]struct {
		primitives, side int
		memory           int64
	}{
		"16 primitives": {16, 220, 160 << 20},
		"a primitive":   {1, 1000, 0}, // as little as can be
	} {
		t.Run(name, func(t *testing.T) { cutWithin(t, c.primitives, c.side, c.memory) })
	}
}

func cutWithin(t *testing.T, primitives, side int, memory int64) {
	scene := filepath.Join(t.TempDir(), "terrain.glb")
	writeTerrain(t, scene, primitives, side)
	if memory == 0 {
		if memory = refusedWithin(t, scene, leastMemory); memory > 256<<20 {
			t.Errorf("%d MiB are said to be needed, 256 have to be enough", memory>>20)
		}
	}
	peak, trees := map[string]int64{}, map[string]map[string]string{}
	// On a busy machine the collector's own limit yields: without one it has to be the same.
	unpaced := []string{"GOMEMLIMIT=off", "GOGC=200"}
	for name, args := range map[string][]string{"all": nil, "bound": {"--memory", fmt.Sprint(memory)}, "unpaced": {"--memory", fmt.Sprint(memory)}} {
		dir := filepath.Join(t.TempDir(), "terrain")
		cmd := exec.Command(os.Args[0], append([]string{
			underTest(t), "cook", scene, "-o", dir, "-q", "--sync=false", "--tile-size", "50", "--lod=false", "--hlod=false", "--pyramid=off", "-j", "2",
		}, args...)...)
		cmd.Env = append(os.Environ(), asParent+"=1")
		if name == "unpaced" {
			cmd.Env = append(cmd.Env, unpaced...)
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if peak[name], err = strconv.ParseInt(string(out), 10, 64); err != nil {
			t.Fatal(err)
		}
		trees[name] = testfile.ReadTree(t, dir)
		for file := range trees[name] {
			if strings.HasPrefix(file, ".untold/") {
				delete(trees[name], file) // it holds times
			}
		}
	}
	if n := len(trees["all"]); n < 300 {
		t.Fatalf("%d files: not hundreds of tiles", n)
	}
	t.Logf("peak %d MiB, within --memory %d MiB, %d MiB without the collector's limit", peak["all"]>>20, peak["bound"]>>20, peak["unpaced"]>>20)
	for _, name := range []string{"bound", "unpaced"} {
		if fmt.Sprint(trees["all"]) != fmt.Sprint(trees[name]) {
			t.Errorf("%s: other bytes", name)
		}
		if peak[name] > memory {
			t.Errorf("%s: %d MiB are resident, --memory is %d MiB", name, peak[name]>>20, memory>>20)
		}
	}
}

// refusedWithin cooks a scene within so little memory that it is refused, and returns how
// much is said to be enough, in bytes.
func refusedWithin(t *testing.T, scene string, memory int64) int64 {
	t.Helper()
	cmd := exec.Command(underTest(t), "cook", scene, "-o", filepath.Join(t.TempDir(), "terrain"), "-q", "--tile-size", "50", "--memory", fmt.Sprint(memory))
	out, err := cmd.CombinedOutput()
	said := regexp.MustCompile(`which takes some (\d+) MB, and \d+ MB of memory can be had`).FindSubmatch(out)
	if err == nil || said == nil {
		t.Fatalf("within %d MiB: %v: %s", memory>>20, err, out)
	}
	mb, err := strconv.ParseInt(string(said[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mb * 1e6
}

func init() { printPeak = runAndPrintPeak }

// runAndPrintPeak runs a program and prints how much of it was resident at most, in bytes.
func runAndPrintPeak(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10)
	return 0
}

// writeTerrain writes one node with a mesh of so many primitives, each a sheet of side x
// side squares over the same kilometre.
func writeTerrain(t *testing.T, path string, sheets, side int) {
	t.Helper()
	w, err := glbwrite.Create(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	var list []glbwrite.Primitive
	for k := range sheets {
		p := glbwrite.Primitive{Material: -1}
		for y := range side + 1 {
			for x := range side + 1 {
				p.Pos = append(p.Pos, [3]float32{float32(x) * 1000 / float32(side), float32(20*k + x*y%7), float32(y) * 1000 / float32(side)})
				p.Normal = append(p.Normal, [3]float32{0, 1, 0})
				p.UV0 = append(p.UV0, [2]float32{float32(x), float32(y)})
			}
		}
		for y := range uint32(side) {
			for x := range uint32(side) {
				a := y*uint32(side+1) + x
				b := a + uint32(side) + 1
				p.Index = append(p.Index, a, b, a+1, a+1, b, b+1)
			}
		}
		list = append(list, p)
	}
	root := w.Node(&glbwrite.Node{Name: "Terrain", Mesh: w.Mesh("terrain", list), Camera: -1, Light: -1})
	if _, err := w.Close("scene", []int{root}); err != nil {
		t.Fatal(err)
	}
}
