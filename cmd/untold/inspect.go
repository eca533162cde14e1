package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/runtime/remote"
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
	levels  bool
	look    bool
	plan    mapFlags
	server  remoteFlags
}

func newInspect(a *app) *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:     "inspect PATH|URL",
		Short:   "Show a container or a manifest",
		GroupID: "look",
		Long: `inspect shows a container's header, chunk table and records as tables, or the summary of a
manifest. Of a damaged container it shows what is whole, marks the rest and says what is wrong,
with exit code 1.

With --map it draws the tiles of a manifest from above, one picture a floor: +X to the right, +Z
down. --map-tile adds the distances at which one tile changes what is drawn; they are measured
from its box. The name "shared" stands for the shared bucket.

With --levels it reads all files of the scene that a manifest describes and lists the levels: how
many triangles they have, where they begin and how large their errors are there on a screen of
1080 pixels with a field of view of 60 degrees, and how many quads of the full tiles are left, or
only one of their two triangles. --look draws each beside its full tile as it is seen from there:
flip is the difference that a viewer sees (FLIP, 0 to 1), colour how far the mean colour is off (of
255), covered the area that is left. That takes seconds a tile.

The file may also be at an http or https address. Of a container only the parts are downloaded
that are shown, if the server knows byte ranges; --verbose says how much that was.`,
		Example: `  untold inspect tiles/tile_0_0_0.untold
  untold inspect tiles/tile_0_0_0.untold --chunk MESH_TABLE
  untold inspect tiles/tile_0_0_0.untold --chunk VERTEX_DATA --hex
  untold inspect tiles/tile_0_0_0.untold --mesh 0
  untold inspect https://cdn.example.com/city/tiles/tile_0_0_0.untold --verbose
  untold inspect city.json --json
  untold inspect city.json --levels --look
  untold inspect city.json --map city.svg --map-color triangles
  untold inspect office.json --map office.png --map-tile F01_Q_0_SI`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.plan.check(cmd); err != nil {
				return err
			}
			if err := oneFormat(cmd.Flags(), f.format); err != nil {
				return err
			}
			if err := a.checkAsked(cmd.Flags(), append(serverNeeds(cmd.Flags(), remote.IsURL(args[0])),
				need{"limit", !f.asJSON && f.format != "json", "JSON lists all rows"},
				need{"json", !f.raw, "--raw writes bytes"}, need{"json", !f.hex, "--hex prints text"})); err != nil {
				return err
			}
			if err := f.checkLevels(remote.IsURL(args[0])); err != nil {
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
			if shown := []bool{f.chunk != "", f.mesh >= 0, f.strings, f.stats}; several(shown) {
				return errors.New("--chunk, --mesh, --strings and --stats show one thing each: leave all but one of them out")
			}
			if (f.hex || f.raw) && f.chunk == "" {
				return errors.New("--hex and --raw go with --chunk NAME")
			}
			if err := refuseUncooked("inspect", "", args[0]); err != nil {
				return err
			}
			if remote.IsURL(args[0]) {
				address, err := f.server.oneSceneAt(cmd.Context(), a, args[0])
				if err != nil {
					return err
				}
				return inspectRemote(cmd.Context(), a, address, &f)
			}
			st, err := journal.Stat(args[0])
			if err != nil {
				return err
			}
			if st.IsDir() {
				return inspectFolder(cmd.Context(), a, args[0], &f)
			}
			if strings.EqualFold(filepath.Ext(args[0]), ".json") {
				return inspectManifest(cmd.Context(), a, args[0], args[0], &f)
			}
			if isTexture(args[0]) {
				if f.levels {
					return fmt.Errorf("--levels goes with a manifest; %s is a texture", args[0])
				}
				return inspectTexture(a, args[0], &f)
			}
			if err := f.forContainer(args[0]); err != nil {
				return err
			}
			return inspectFile(a, args[0], &f)
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
	fl.BoolVar(&f.levels, "levels", false, "list the levels of a scene and what they keep of the full tiles")
	fl.BoolVar(&f.look, "look", false, "with --levels: draw them beside the full tiles and say how they look")
	f.plan.register(cmd)
	f.server.registerVisit(fl)
	fl.IntVar(&f.limit, "limit", 40, "rows per table in text output, 0 for all")
	return cmd
}

// inspectFile shows a container on the disk. Its geometry may be damaged, which its tables
// do not tell: that takes a hash of the whole file, behind the tables for who reads them,
// before anything that is one document or one part.
func inspectFile(a *app, path string, f *inspectFlags) error {
	r, err := format.Open(path, format.WithMapping())
	if err != nil {
		return inspectDamaged(a, path, f, err)
	}
	defer r.Close()
	if f.asJSON || f.onePart() {
		if err := r.VerifyHash(); err != nil {
			return inspectDamaged(a, path, f, err)
		}
		return inspectContainer(a, path, r, f)
	}
	if err := inspectContainer(a, path, r, f); err != nil {
		return err
	}
	if err := r.VerifyHash(); err != nil {
		return damagedBelow(a, path, f, err)
	}
	return nil
}

// onePart reports whether one thing of a container is to be shown.
func (f *inspectFlags) onePart() bool { return f.chunk != "" || f.mesh >= 0 || f.strings || f.stats }

// several reports whether more than one is true.
func several(list []bool) bool {
	first := slices.Index(list, true)
	return first >= 0 && slices.Contains(list[first+1:], true)
}

// forContainer refuses what needs a manifest.
func (f *inspectFlags) forContainer(name string) error {
	if f.plan.file != "" {
		return fmt.Errorf("--map goes with a manifest; %s is a container", name)
	}
	if f.levels {
		return fmt.Errorf("--levels goes with a manifest; %s is a container", name)
	}
	return nil
}

// inspectRemote shows a file at an address.
func inspectRemote(ctx context.Context, a *app, address string, f *inspectFlags) error {
	name := remote.Redact(address)
	return f.server.visit(ctx, a, func(ctx context.Context, _ string, fetch *remote.Fetcher) error {
		if strings.EqualFold(path.Ext(nameOf(address)), ".json") {
			m, err := fetch.OpenManifest(ctx, address)
			if err != nil {
				return err
			}
			return inspectManifest(ctx, a, m.File, name, f)
		}
		if err := f.forContainer(name); err != nil {
			return err
		}
		part, err := fetch.OpenRange(ctx, address, remote.Expected{})
		if err != nil {
			return err
		}
		defer part.Close()
		file := &remotePart{RangeReader: part}
		if err = inspectPart(a, name, file, f); file.err != nil {
			err = file.err
		}
		if a.verbose {
			s := part.Stats()
			a.info("fetched %s of %s in %d requests", human.Bytes(s.Fetched), human.Bytes(s.Size), s.Requests)
		}
		return err
	})
}

// inspectPart shows a container that is read in parts.
func inspectPart(a *app, name string, file *remotePart, f *inspectFlags) error {
	r, err := format.NewReader(file, file.Size())
	if err != nil {
		return asInputError(fmt.Errorf("%s: %w", name, err))
	}
	defer r.Close()
	return inspectContainer(a, name, r, f)
}

// asInputError marks an error about a file's content, so that the exit code is 1.
func asInputError(err error) error {
	var e *format.Error
	if errors.As(err, &e) {
		return &badFile{err}
	}
	return err
}

// badFile is an input that was read and has findings.
type badFile struct{ error }

func (b *badFile) Unwrap() error { return b.error }

// inspectFolder shows the one manifest of a cooked scene.
func inspectFolder(ctx context.Context, a *app, dir string, f *inspectFlags) error {
	path, err := manifestPath("inspect", "", dir)
	if err != nil {
		return err
	}
	return inspectManifest(ctx, a, path, path, f)
}
