package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/format"
)

type inspectFlags struct {
	asJSON  bool
	format  string
	chunk   string
	hex     bool
	raw     bool
	mesh    int
	strings bool
	stats   bool
	limit   int
	plan    mapFlags
}

func newInspect(a *app) *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:     "inspect PATH",
		Short:   "Show a container or a manifest",
		GroupID: "look",
		Long: `inspect shows a container's header, chunk table and records as tables, or the summary of a
manifest. It reads the file as far as it is sound; validate says what is wrong with it.

With --map it draws the tiles of a manifest from above, one picture a floor: +X to the right, +Z
down. --map-tile adds the distances at which one tile changes what is drawn; they are measured
from its box. The name "shared" stands for the shared bucket.`,
		Example: `  untold inspect tiles/tile_0_0_0.untold
  untold inspect tiles/tile_0_0_0.untold --chunk MESH_TABLE
  untold inspect tiles/tile_0_0_0.untold --chunk VERTEX_DATA --hex
  untold inspect tiles/tile_0_0_0.untold --mesh 0
  untold inspect city.json --json
  untold inspect city.json --map city.svg --map-color triangles
  untold inspect office.json --map office.png --map-tile F01_Q_0_SI`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.plan.check(cmd); err != nil {
				return err
			}
			switch f.format {
			case "json":
				f.asJSON = true
			case "text":
			default:
				return fmt.Errorf("--format is %q; use text or json", f.format)
			}
			if f.hex && f.raw {
				return errors.New("--hex and --raw exclude each other")
			}
			if (f.hex || f.raw) && f.chunk == "" {
				return errors.New("--hex and --raw go with --chunk NAME")
			}
			st, err := os.Stat(args[0])
			if err != nil {
				return err
			}
			if st.IsDir() {
				return inspectFolder(a, args[0], &f)
			}
			if strings.EqualFold(filepath.Ext(args[0]), ".json") {
				return inspectManifest(a, args[0], &f)
			}
			if f.plan.file != "" {
				return fmt.Errorf("--map goes with a manifest; %s is a container", args[0])
			}
			r, err := format.Open(args[0], format.WithMapping())
			if err != nil {
				return judged(err)
			}
			defer r.Close()
			return inspectContainer(a, args[0], r, &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.asJSON, "json", false, "print JSON (short for --format json)")
	fl.StringVar(&f.format, "format", "text", "text or json")
	fl.StringVar(&f.chunk, "chunk", "", "show one chunk, by name (VERTEX_DATA) or number")
	fl.BoolVar(&f.hex, "hex", false, "with --chunk: a hex dump of the decoded bytes")
	fl.BoolVar(&f.raw, "raw", false, "with --chunk: the decoded bytes themselves")
	fl.IntVar(&f.mesh, "mesh", -1, "show the vertices and triangles of one mesh")
	fl.BoolVar(&f.strings, "strings", false, "list the strings")
	fl.BoolVar(&f.stats, "stats", false, "show sizes, ratios and geometry statistics")
	f.plan.register(cmd)
	fl.IntVar(&f.limit, "limit", 40, "rows per table in text output, 0 for all")
	return cmd
}

// judged marks an error about a file's content, so that the exit code is 1.
func judged(err error) error {
	var e *format.Error
	if errors.As(err, &e) {
		return &badFile{err}
	}
	return err
}

// badFile is an input that was judged and found wanting.
type badFile struct{ error }

func (b *badFile) Unwrap() error { return b.error }

// inspectFolder looks for the one manifest of a cooked scene.
func inspectFolder(a *app, dir string, f *inspectFlags) error {
	found, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("%s holds no manifest (*.json); name a container or a manifest", dir)
	case 1:
		return inspectManifest(a, found[0], f)
	}
	return fmt.Errorf("%s holds %d manifests; name one of them", dir, len(found))
}
