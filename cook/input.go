package cook

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/meshfile"
	"github.com/untoldkit/untold/cook/usd"
)

// openInput opens what is cooked: a file of any format, those that a placement list names,
// or those of the options.
func openInput(ctx context.Context, path string, opts *Options) (*opened, error) {
	if len(opts.Items) > 0 {
		return openItems(ctx, path, opts.Items, opts)
	}
	if isPlacementList(path) {
		items, err := readPlacements(path, opts.AllowParentPaths, opts.mostNodes())
		if err != nil {
			return nil, err
		}
		in, err := openItems(ctx, path, items, opts)
		if err == nil {
			abs, _ := filepath.Abs(path) // where that fails opening the list did
			in.scene.Files = append([]string{abs}, in.scene.Files...)
		}
		return in, err
	}
	if err := opts.planItems(path, nil); err != nil {
		return nil, err
	}
	v := &survey{jobs: opts.jobs(), keys: !opts.DryRun}
	s, err := openPart(ctx, path, path, opts, opts.sceneOptions(), v)
	v.nodes = nil
	return &opened{s, v}, err
}

// sceneOptions are those of the import.
func (o *Options) sceneOptions() gltfscene.Options {
	return gltfscene.Options{
		Scene: o.Scene, AllowParentPaths: o.AllowParentPaths,
		AllowMissingImages: o.AllowMissingImages, Jobs: o.Jobs, MaxTriangles: int64(max(0, o.MaxTriangles)), Read: o.read,
		MaxMeshBytes: o.mostMeshBytes(),
	}
}

// mostMeshBytes is what a mesh may take that is decoded, 0 for any number.
func (o *Options) mostMeshBytes() int64 {
	if o.MaxTriangles != 0 {
		return 0
	}
	return o.besideProgram()
}

// openSource opens the file at path, whose format the end of name tells.
func openSource(ctx context.Context, path, name string, opts *Options, scene gltfscene.Options, look func(s *gltfscene.Scene, mesh int, list []gltfscene.Primitive) error) (*gltfscene.Scene, error) {
	keep := opts.memory() / geometryShare
	if meshfile.FormatOf(name) == meshfile.None && !usd.IsName(name) {
		if err := foreign(path, name); err != nil {
			return nil, err
		}
		return gltfscene.Open(ctx, path, scene, keep, look)
	}
	f, info, err := gltfscene.OpenFile(path)
	if err != nil {
		return nil, err
	}
	made, err := makeScene(ctx, path, name, f, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	if opts.read != nil {
		opts.read.Add(info.Size())
	}
	scene.Scene = gltfscene.DefaultScene
	return gltfscene.OpenMade(ctx, path, f, info, made, scene, keep, look)
}

// makeScene makes glTF of an open file of another format; nil of one that is glTF.
func makeScene(ctx context.Context, path, name string, f *os.File, opts *Options) (made *gltfscene.Made, err error) {
	format, isUSD := meshfile.FormatOf(name), usd.IsName(name)
	progress := func(done, total int) { opts.progress("load", done, total) }
	switch {
	case isUSD:
		made, err = usd.Read(ctx, path, f, usd.Options{
			Progress: progress, Memory: opts.memory(), AllowParentPaths: opts.AllowParentPaths, AllowMissing: opts.AllowMissingImages,
		})
	case format != meshfile.None:
		made, err = meshfile.Read(ctx, path, f, format, meshfile.Options{
			Progress: progress, Up: opts.Up, Metres: opts.Metres, Memory: opts.memory(), AllowParentPaths: opts.AllowParentPaths, AllowMissing: opts.AllowMissingImages,
		})
	}
	return made, err
}

// foreignFormats are those of files that other programs convert, with what does.
var foreignFormats = map[string]struct{ name, detour string }{
	".fbx":   {"FBX", assimpDetour},
	".dae":   {"COLLADA", assimpDetour},
	".3ds":   {"3D Studio", assimpDetour},
	".x":     {"DirectX", assimpDetour},
	".blend": {"Blender", blenderDetour},
}

// Detours, with FILE and STEM in the places of the file and of its name without ending.
const (
	assimpDetour  = "assimp export FILE STEM.glb -fglb2"
	blenderDetour = `blender -b FILE --python-expr "import bpy; bpy.ops.export_scene.gltf(filepath='STEM.glb')"`
)

// foreign refuses a file by its ending, and says what converts it.
func foreign(path, name string) error {
	f, ok := foreignFormats[strings.ToLower(filepath.Ext(name))]
	if !ok {
		return nil
	}
	detour := strings.NewReplacer("FILE", filepath.Base(name), "STEM", stem(name)).Replace(f.detour)
	return &gltfscene.Error{File: path, Reason: f.name + " files are not read", Hint: "convert it first: " + detour, Err: gltfscene.ErrUnsupported}
}
