package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/partition"
)

// sceneFlags are shared by cook and convert.
type sceneFlags struct {
	compress string
	report   string
	asJSON   bool
	sync     bool
	memory   byteSize
	input    inputFlags
	reports  []string // file endings of reports
	textures textureFlags
	opts     cook.Options
}

// register declares the flags; merge is that flag's default.
func (s *sceneFlags) register(f *pflag.FlagSet, merge bool) {
	s.opts = cook.DefaultOptions()
	f.StringVar(&s.compress, "compress", "auto", "geometry chunks: auto (lz4 where it pays), none, lz4; zstd or delta, the smallest (not for the reference engine)")
	f.Uint32Var(&s.opts.ContainerVersion, "container-version", 1, "format version of the containers: 1 is read by every engine; 2 keeps emissive colours in engines after the first, which take those of version 1 for black; 3 and 4 have room for height maps")
	f.BoolVar(&s.opts.Merge, "merge", merge, "join meshes of equal material; names with NM_ and the extra untold_no_merge opt out")
	f.BoolVar(&s.opts.Instances, "instances", false, "store a mesh that is used several times in one container once, with transforms on the entities")
	f.IntVar(&s.opts.Scene, "scene", -1, "index of the glTF scene (default: the file's default scene)")
	s.input.register(f, &s.opts)
	f.BoolVar(&s.opts.AllowParentPaths, "allow-parent-paths", false, "let the scene name files above its own folder")
	f.BoolVar(&s.opts.AllowMissingImages, "allow-missing-images", false, "leave out textures whose file is missing or damaged and MTL files that are missing, with a warning")
	f.IntVarP(&s.opts.Jobs, "jobs", "j", 0, "tiles built at a time (default: all processors); the output does not depend on it")
	f.Var(&s.memory, "memory", "main memory that the program may take, such as 1GiB: scenes of any size are cooked within it, tile by tile (default: what the machine or its control group leaves free)")
	f.IntVar(&s.opts.MaxTriangles, "max-triangles", 0, "refuse scenes that place more triangles, counting a mesh once for every node and every piece that is cut of a triangle; -1 is any number (default: what the memory carries)")
	f.BoolVar(&s.sync, "sync", true, "flush files and folders to the disk, so that a power failure loses nothing; --sync=false is for scratch disks")
	s.textures.register(f, &s.opts)
	f.BoolVar(&s.asJSON, "json", false, "print the result as JSON")
	f.StringVar(&s.report, "report", "", "write what was done and why to FILE.json or, from cook, FILE.html")
}

// leastMemory is what a program needs to do anything at all.
const leastMemory = 128 << 20

// resolve fills in what is not a plain flag.
func (s *sceneFlags) resolve(a *app) error {
	if v := s.opts.ContainerVersion; v < 1 || v > format.MaxVersion {
		return fmt.Errorf("--container-version is %d; use 1 to %d", v, format.MaxVersion)
	}
	mode, err := format.ParseCompressMode(s.compress)
	if err != nil {
		return fmt.Errorf("--compress: %w", err)
	}
	if s.report != "" && !slices.Contains(s.reports, strings.ToLower(filepath.Ext(s.report))) {
		return fmt.Errorf("--report is %q; it must end in %s", s.report, strings.Join(s.reports, " or "))
	}
	if err := s.input.resolve(&s.opts); err != nil {
		return err
	}
	s.opts.Compress, s.opts.NoSync = mode, !s.sync
	s.opts.Generator = "untold " + version
	s.opts.Progress = a.progress()
	if s.opts.Memory = int64(s.memory); s.opts.Memory == 0 {
		s.opts.Memory = memoryAt("/")
	} else if s.opts.Memory < leastMemory {
		return fmt.Errorf("--memory is %s; it must be at least %s", human.Bytes(s.opts.Memory), human.Bytes(int64(leastMemory)))
	}
	if err := s.textures.resolve(&s.opts); err != nil {
		return err
	}
	return s.forEngine()
}

// forEngine refuses what the reference engine cannot load in a scene for it.
func (s *sceneFlags) forEngine() error {
	const cooks = "--compat engine cooks for the reference engine"
	switch {
	case !s.opts.Compat:
	case s.opts.Textures == cook.TexturesBC:
		return fmt.Errorf("%s, which has no BC7 and BC5 textures: use --textures astc, resize or copy, or leave --compat out", cooks)
	case s.opts.Textures == cook.TexturesKTX2:
		return fmt.Errorf("%s, which reads no KTX2: use --textures astc, resize or copy, or leave --compat out", cooks)
	case !s.opts.Compress.Portable():
		return fmt.Errorf("%s, which refuses %v: use --compress auto, lz4 or none, or leave --compat out", cooks, s.opts.Compress)
	}
	return nil
}

// writeReport stores the result as JSON when asked for.
func (s *sceneFlags) writeReport(result any) error {
	if s.report == "" {
		return nil
	}
	return atomicfile.Write(s.report, func(w io.Writer) error { return writeJSON(w, result) })
}

// checkReport refuses, before any work is done, a report that cannot be
// written or would lie on the scene's own files.
func (s *sceneFlags) checkReport(scene, out string) error {
	if s.report == "" {
		return nil
	}
	if st, err := os.Stat(filepath.Dir(s.report)); err != nil || !st.IsDir() {
		// The output folder may be about to be made.
		if s.opts.DryRun || !within(out, filepath.Dir(s.report)) {
			return fmt.Errorf("--report %s: the folder %s does not exist", s.report, filepath.Dir(s.report))
		}
	}
	if out == "" {
		return nil // a dry run without a place
	}
	name := strings.TrimSuffix(filepath.Base(scene), filepath.Ext(scene))
	own := filepath.Join(out, partition.ManifestFile(partition.Sanitize(name)))
	if within(own, s.report) && within(s.report, own) {
		return fmt.Errorf("--report %s is where the manifest goes; choose another name", s.report)
	}
	if dir := filepath.Join(out, filepath.FromSlash(s.opts.PayloadDir)); within(dir, s.report) {
		return fmt.Errorf("--report %s lies in the folder of the tiles; choose another place", s.report)
	}
	return nil
}

// within reports whether path is dir or lies below it; file systems that
// ignore case are taken into account.
func within(dir, path string) bool {
	a, err1 := filepath.Abs(strings.ToLower(dir))
	b, err2 := filepath.Abs(strings.ToLower(path))
	if err1 != nil || err2 != nil {
		return false
	}
	rel, err := filepath.Rel(a, b)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// writeCookReport stores the report of a scene, as a page or as JSON.
func (s *sceneFlags) writeCookReport(res *cook.Result) error {
	if s.report == "" {
		return nil
	}
	if strings.EqualFold(filepath.Ext(s.report), ".html") {
		return atomicfile.Write(s.report, res.Report.WriteHTML)
	}
	return atomicfile.Write(s.report, res.Report.WriteJSON)
}

// cacheText says what the triangle order is worth.
func cacheText(v cook.VertexCache) string {
	return fmt.Sprintf("vertex cache: ACMR %.3f -> %.3f, ATVR %.3f -> %.3f", v.ACMRBefore, v.ACMRAfter, v.ATVRBefore, v.ATVRAfter)
}

// portability says once that zstd and delta are ours alone.
func (s *sceneFlags) portability(a *app) {
	if m := s.opts.Compress; !m.Portable() {
		a.info("note: %v chunks load in this toolkit only; the reference engine refuses them (use --compress auto for it)", m)
	}
}

func newConvert(a *app) *cobra.Command {
	var s sceneFlags
	var out, fileType string
	cmd := &cobra.Command{
		Use:     "convert MODEL -o FILE.untold",
		Short:   "Turn one glTF model into one container",
		GroupID: "make",
		Long: `convert turns one glTF or GLB model into one .untold container. World transforms are
baked into the vertices; textures go to the folder Textures beside the container.`,
		Example: "  untold convert chair.glb -o chair.untold\n  untold convert far.glb -o far.untold --file-type hlod",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.reports = []string{".json"}
			t, ok := format.ParseFileType(fileType)
			if !ok {
				return fmt.Errorf("--file-type is %q; use tile, lod, hlod or shared", fileType)
			}
			if err := s.resolve(a); err != nil {
				return err
			}
			if s.report != "" && within(out, s.report) && within(s.report, out) {
				return fmt.Errorf("--report %s is where the container goes; choose another name", s.report)
			}
			s.opts.FileType = t
			defer collectWithin(s.opts.Memory)()
			res, err := cook.Convert(cmd.Context(), args[0], out, s.opts)
			if err != nil {
				return err
			}
			a.notes(res.Notes)
			s.portability(a)
			s.textures.summary(a, &s.opts, &res.TextureTotals)
			if err := s.writeReport(res); err != nil {
				return err
			}
			if s.asJSON {
				return writeJSON(a.stdout, res)
			}
			_, err = fmt.Fprintf(a.stdout, "%s: %s, %s, %s, %s, %s, %s (%s)\n",
				res.Path, human.Bytes(res.Bytes), human.Plural(res.Objects, "object"), human.Plural(res.Meshes, "mesh"), human.Plural(res.Triangles, "triangle"),
				human.Plural(res.Materials, "material"), human.Plural(res.Textures, "texture"), human.Bytes(res.TextureBytes))
			if a.verbose {
				a.info("%s", cacheText(res.VertexCache))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "the container to write (required)")
	f.StringVar(&fileType, "file-type", "tile", "role of the container: tile, lod, hlod or shared")
	s.register(f, false)
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
