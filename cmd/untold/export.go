package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/cook/tiles3d"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/partition"
)

// exportFlags are the flags of export.
type exportFlags struct {
	out, format, levels, ecef, textures string
	pyramid, jobs                       int
	compress, full, verify, asJSON      bool
}

// What export writes.
const (
	formatGLTF = "gltf"
	format3D   = "3dtiles"
	formatWeb  = "web"

	texturesCopy = "copy"
	texturesKTX2 = "ktx2"

	mustBe3D    = "it is for 3D Tiles: add --format 3dtiles, or leave it out"
	mustBeGLTF  = "it is for glTF; 3D Tiles and pages for the web have all levels"
	mustNotWeb  = "a page for the web has all of the scene's files: leave it out"
	mustBeFiles = "it is for 3D Tiles and pages for the web: add --format, or leave it out"
	mustBeScene = "a container is exported as it is; it goes with a manifest"
)

func newExport(a *app) *cobra.Command {
	var e exportFlags
	cmd := &cobra.Command{
		Use:     "export PATH -o MODEL.glb",
		Short:   "Turn a container or a whole manifest into glTF, 3D Tiles or a page for the web",
		GroupID: "look",
		Long: `export turns a container, a manifest or a folder with one manifest back into glTF, so that
any glTF tool can look at it. A manifest becomes one scene with a node per tile; with
--pyramid-level the merged HLODs of that level stand in for the tiles below them, and where a
branch has none, the highest below, or the tile. The output is one .glb, or a .gltf with a .bin
and its textures beside it. Textures that were compressed (.utex, .ktx2) become PNG.

With --format 3dtiles a manifest becomes a tileset of 3D Tiles 1.1, with all its levels, for the
viewers of that standard: a folder with tileset.json, or one archive that ends in .3tz. Its
geometry is compressed; --compress=false leaves it plain for viewers that lack
EXT_meshopt_compression. --ecef puts the scene's origin on the globe. A second export makes only
what has changed, and touches nothing where nothing has; an archive is left, or written, as a whole.

With --format web a manifest, or all manifests of a folder, become a folder for any web server:
the scenes' files, a page that shows them in a browser, and the element <untold-viewer> for other
pages (docs/web.md). Compressed geometry is compressed as cook --compress delta does it;
--compress=false leaves it as it was cooked. A second export writes what has changed and removes
what is left over. Only a program that was built with the page can do that (make build).`,
		Example: `  untold export tiles/tile_0_0_0.untold -o tile.glb
  untold export out/city -o city-cooked.glb --compress
  untold export out/city/city.json -o far.gltf --levels hlod
  untold export out/city -o farther.glb --pyramid-level 1
  untold export out/city --format 3dtiles -o out/tileset
  untold export out/city -o city.3tz --ecef 13.3777,52.5163,34
  untold export out/city --format web -o out/site`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, a, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&e.out, "output", "o", "", "the .glb, .gltf or .3tz to write, or the folder of 3D Tiles or of the page (required)")
	f.StringVar(&e.format, "format", "", "gltf, 3dtiles or web (default: by the output, gltf unless it ends in .3tz)")
	f.StringVar(&e.levels, "levels", string(gltfexport.LevelsFull), "what stands for a manifest's tiles: full, lod1 or hlod")
	f.IntVar(&e.pyramid, "pyramid-level", 0, "level of the pyramid that stands in for the tiles below it")
	f.BoolVar(&e.compress, "compress", false, "quantize and compress the geometry (KHR_mesh_quantization, EXT_meshopt_compression; default for 3D Tiles and, as delta, for the web)")
	f.StringVar(&e.textures, "textures", texturesCopy, "copy keeps textures as they are, compressed ones (.utex, .ktx2) as PNG; ktx2 makes all Basis Universal with mip levels (KHR_texture_basisu), those of untold cook --textures ktx2 stay as they are")
	f.StringVar(&e.ecef, "ecef", "", "where 3D Tiles stand: LON,LAT,HEIGHT[,HEADING], in degrees and metres above the ellipsoid")
	f.IntVarP(&e.jobs, "jobs", "j", 0, "containers that are converted, or files that are copied, at a time (default: the number of processors)")
	f.BoolVar(&e.full, "full", false, "make everything of 3D Tiles anew, whatever an earlier export left")
	f.BoolVar(&e.verify, "verify", false, "read the files of the scene and of the earlier 3D Tiles, instead of trusting sizes and times, to see what has changed")
	f.BoolVar(&e.asJSON, "json", false, "print the result as JSON")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func (e *exportFlags) run(cmd *cobra.Command, a *app, arg string) error {
	levels, err := gltfexport.ParseLevels(e.levels)
	if err != nil {
		return fmt.Errorf("--levels is %q; use full, lod1 or hlod", e.levels)
	}
	if e.textures != texturesCopy && e.textures != texturesKTX2 {
		return fmt.Errorf("--textures is %q; use copy or ktx2", e.textures)
	}
	kind, err := e.kind()
	if err != nil {
		return err
	}
	if kind == formatWeb {
		return e.web(cmd, a, arg)
	}
	tiles3D := kind == format3D
	path, err := manifestPath("export", " -o "+shellWord(e.out), arg)
	if err != nil {
		return err
	}
	scene := !strings.EqualFold(filepath.Ext(path), partition.PayloadExt)
	if tiles3D && !scene {
		return fmt.Errorf("%s is a container; 3D Tiles are made of a manifest", arg)
	}
	err = a.checkAsked(cmd.Flags(), []need{
		{"levels", scene, mustBeScene},
		{"levels", !tiles3D, mustBeGLTF},
		{"pyramid-level", scene, mustBeScene},
		{"pyramid-level", !tiles3D, mustBeGLTF},
		{"ecef", tiles3D, mustBe3D},
		{"jobs", tiles3D, mustBeFiles},
		{"full", tiles3D, mustBe3D},
		{"verify", tiles3D, mustBe3D},
	})
	if err != nil {
		return err
	}
	if e.pyramid < 1 && cmd.Flags().Changed("pyramid-level") {
		return fmt.Errorf("--pyramid-level is %d; levels count from 1", e.pyramid)
	}
	if tiles3D {
		return e.tileset(cmd, a, path)
	}
	if err := checkPlace("--output", e.out); err != nil {
		return err
	}
	if scene && cook.IsSource(path, e.out) {
		return fmt.Errorf("--output %s: the scene was cooked from this file, which would be lost: name another one", oneLine(e.out))
	}
	res, err := gltfexport.Export(cmd.Context(), path, e.out, gltfexport.Options{
		Levels: levels, PyramidLevel: e.pyramid, Compress: e.compress, KTX2: e.textures == texturesKTX2, Generator: "untold " + version, Progress: a.progress(),
	})
	if err != nil {
		return judgedExport(err)
	}
	a.notes(res.Notes)
	if e.asJSON {
		return writeJSON(a.stdout, res)
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %s, %s, %s, %s, %s, %s (%s)\n",
		res.Path, human.Bytes(res.Bytes), human.Plural(res.Nodes, "node"), human.Plural(res.Meshes, "mesh"), human.Plural(res.Triangles, "triangle"),
		human.Plural(res.Materials, "material"), human.Plural(res.Textures, "texture"), human.Bytes(res.TextureBytes))
	return err
}

// kind says which format is meant.
func (e *exportFlags) kind() (string, error) {
	archive, ext := tiles3d.IsArchive(e.out), strings.ToLower(filepath.Ext(e.out))
	file := ext == ".glb" || ext == ".gltf" || ext == ".json"
	switch e.format {
	case "":
		if archive {
			return format3D, nil
		}
		return formatGLTF, nil
	case formatGLTF:
		if archive {
			return "", fmt.Errorf("--format gltf writes a .glb or a .gltf, not %s", e.out)
		}
		return formatGLTF, nil
	case format3D:
		if file {
			return "", fmt.Errorf("--format 3dtiles writes a folder, or a file that ends in .3tz, not %s", e.out)
		}
		return format3D, nil
	case formatWeb:
		if file || archive || ext == ".html" {
			return "", fmt.Errorf("--format web writes a folder, not %s", e.out)
		}
		return formatWeb, nil
	}
	return "", fmt.Errorf("--format is %q; use gltf, 3dtiles or web", e.format)
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
