package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/partition"
)

func newExport(a *app) *cobra.Command {
	var out, levels string
	var asJSON bool
	var pyramid int
	cmd := &cobra.Command{
		Use:     "export PATH -o MODEL.glb",
		Short:   "Turn a container or a whole manifest back into glTF",
		GroupID: "look",
		Long: `export turns a container, a manifest or a folder with one manifest back into glTF, so that
any glTF tool can look at it. A manifest becomes one scene with a node per tile; with
--pyramid-level the merged HLODs of that level stand in for the tiles below them, and where a
branch has none, the highest below, or the tile. The output is one .glb, or a .gltf with a .bin
and its textures beside it. Textures that were compressed (.utex) become PNG.`,
		Example: `  untold export tiles/tile_0_0_0.untold -o tile.glb
  untold export out/city -o city.glb
  untold export out/city/city.json -o far.gltf --levels hlod
  untold export out/city -o farther.glb --pyramid-level 1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := gltfexport.ParseLevels(levels)
			if err != nil {
				return fmt.Errorf("--levels is %q; use full, lod1 or hlod", levels)
			}
			path, err := manifestPath("export", " -o "+shellWord(out), args[0])
			if err != nil {
				return err
			}
			scene := !strings.EqualFold(filepath.Ext(path), partition.PayloadExt)
			const alone = "a container is exported as it is; it goes with a manifest"
			if err := a.checkAsked(cmd.Flags(), []need{{"levels", scene, alone}, {"pyramid-level", scene, alone}}); err != nil {
				return err
			}
			if pyramid < 1 && cmd.Flags().Changed("pyramid-level") {
				return fmt.Errorf("--pyramid-level is %d; levels count from 1", pyramid)
			}
			res, err := gltfexport.Export(cmd.Context(), path, out, gltfexport.Options{
				Levels: l, PyramidLevel: pyramid, Generator: "untold " + version, Progress: a.progress(),
			})
			if err != nil {
				return judgedExport(err)
			}
			a.notes(res.Notes)
			if asJSON {
				return writeJSON(a.stdout, res)
			}
			_, err = fmt.Fprintf(a.stdout, "%s: %s, %s, %s, %s, %s, %s (%s)\n",
				res.Path, human.Bytes(res.Bytes), human.Plural(res.Nodes, "node"), human.Plural(res.Meshes, "mesh"), human.Plural(res.Triangles, "triangle"),
				human.Plural(res.Materials, "material"), human.Plural(res.Textures, "texture"), human.Bytes(res.TextureBytes))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "the .glb or .gltf to write (required)")
	f.StringVar(&levels, "levels", string(gltfexport.LevelsFull), "what stands for a manifest's tiles: full, lod1 or hlod")
	f.IntVar(&pyramid, "pyramid-level", 0, "level of the pyramid that stands in for the tiles below it")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

// judgedExport marks errors that lie in the container or the manifest, so that
// the exit code is 1.
func judgedExport(err error) error {
	var e *manifest.DecodeError
	if errors.As(err, &e) || errors.Is(err, payloadpath.ErrEscapes) || errors.Is(err, gltfexport.ErrOverlap) {
		return &badFile{err}
	}
	return asInputError(err)
}
