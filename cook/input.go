package cook

import (
	"context"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/meshfile"
)

// openInput opens a file of any format that is cooked: look sees its meshes.
func openInput(ctx context.Context, path string, opts *Options, look func(s *gltfscene.Scene, mesh int, list []gltfscene.Primitive) error) (*gltfscene.Scene, error) {
	return openSource(ctx, path, path, opts, opts.sceneOptions(), look)
}

// sceneOptions are those of the import.
func (o *Options) sceneOptions() gltfscene.Options {
	return gltfscene.Options{
		Scene: o.Scene, AllowParentPaths: o.AllowParentPaths,
		AllowMissingImages: o.AllowMissingImages, Jobs: o.Jobs, MaxTriangles: int64(max(0, o.MaxTriangles)),
	}
}

// openSource opens the file at path, whose format the end of name tells.
func openSource(ctx context.Context, path, name string, opts *Options, scene gltfscene.Options, look func(s *gltfscene.Scene, mesh int, list []gltfscene.Primitive) error) (*gltfscene.Scene, error) {
	keep := opts.memory() / geometryShare
	format := meshfile.FormatOf(name)
	if format == meshfile.None {
		return gltfscene.Open(ctx, path, scene, keep, look)
	}
	f, info, err := gltfscene.OpenFile(path)
	if err != nil {
		return nil, err
	}
	made, err := meshfile.Read(ctx, path, f, format, meshfile.Options{
		Up: opts.Up, Metres: opts.Metres, Memory: opts.memory(), AllowParentPaths: opts.AllowParentPaths, AllowMissing: opts.AllowMissingImages,
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	scene.Scene = gltfscene.DefaultScene
	return gltfscene.OpenMade(ctx, path, f, info, made, scene, keep, look)
}
