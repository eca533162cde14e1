// Command balance cooks the generated scenes, and kits where there are some, in
// all partitioning modes and prints how evenly the tiles share them.
//
//	go run ./scripts/balance                                   # to stdout
//	go run ./scripts/balance -update docs/partitioning.md      # between the markers of a document
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook"
)

// The table stands between these lines.
const (
	begin = "<!-- go run ./scripts/balance -update docs/partitioning.md -->"
	end   = "<!-- end -->"
)

func main() {
	update := flag.String("update", "", "replace the table in this document")
	kits := flag.String("kits", "../shared/assets/kits", "folder of kits; each becomes a town of 30 x 30 cells")
	flag.Parse()
	if err := run(*update, *kits); err != nil {
		fmt.Fprintln(os.Stderr, "balance:", err)
		os.Exit(1)
	}
}

// input is a scene to cook.
type input struct {
	name string
	args []string // of go run, but for -o
	tile float64  // edge of the grid's tiles in metres
}

func inputs(kits string) []input {
	list := []input{
		{"city", []string{"./scripts/gen"}, 50},
		{"office", []string{"./scripts/gen", "-kind", "office"}, 10},
	}
	for _, k := range []input{{name: "kaykit-city", tile: 8}, {name: "kenney-city", tile: 4}} {
		dir := filepath.Join(kits, k.name)
		if _, err := os.Stat(dir); err != nil {
			fmt.Fprintf(os.Stderr, "balance: %s is left out: %v\n", k.name, err)
			continue
		}
		k.args = []string{"./scripts/assemble", "-q", "-kit", dir, "-cells", "30"}
		list = append(list, k)
	}
	return list
}

func run(update, kits string) error {
	dir, err := os.MkdirTemp("", "balance-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var b bytes.Buffer
	b.WriteString("| scene | mode | tiles | objects per tile, median / most | triangles per tile, median / most | most / median | triangles stored / drawn | bytes | shared bucket |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|\n")
	for _, in := range inputs(kits) {
		scene := filepath.Join(dir, in.name+".glb")
		gen := exec.Command("go", append(append([]string{"run"}, in.args...), "-o", scene)...)
		if out, err := gen.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", gen.Args, err, out)
		}
		for _, mode := range []string{cook.PartitionGrid, cook.PartitionQuadtree, cook.PartitionKDTree} {
			line, err := row(in, scene, mode, filepath.Join(dir, in.name+"-"+mode))
			if err != nil {
				return err
			}
			b.WriteString(line)
		}
	}
	if update == "" {
		_, err := os.Stdout.Write(b.Bytes())
		return err
	}
	return replace(update, b.String())
}

// row cooks a scene and describes its tiles.
func row(in input, scene, mode, dir string) (string, error) {
	o := cook.ClassicOptions()
	o.Partition, o.TileSize[0], o.TileSize[2] = mode, in.tile, in.tile
	res, err := cook.Run(context.Background(), scene, dir, o)
	if err != nil {
		return "", err
	}
	p := res.Plan
	name := mode
	if mode == cook.PartitionGrid {
		name = fmt.Sprintf("grid, %v m", in.tile)
	}
	shared := "-"
	if p.Shared != nil {
		shared = fmt.Sprintf("%d objects, %.1f %%", p.Shared.Objects, 100*p.Shared.Share)
	}
	return fmt.Sprintf("| %s | %s | %d | %d / %d | %d / %d | %.1f | %.2f | %.1f MB | %s |\n", in.name, name, res.Tiles,
		p.Objects.Median, p.Objects.Max, p.Triangles.Median, p.Triangles.Max, float64(p.Triangles.Max)/float64(max(p.Triangles.Median, 1)),
		float64(res.TileTriangles)/float64(res.Triangles), float64(res.PayloadBytes)/1e6, shared), nil
}

// replace puts the table between the markers of a document.
func replace(path, table string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(data), begin+"\n")
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+"\n"+table+end+tail), 0o644)
}
