package cook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// eachModel calls f for the shared files below the given folders, or skips the
// test without them.
func eachModel(t *testing.T, f func(name, path string), folders ...string) {
	t.Helper()
	root := filepath.Join("..", "..", "shared", "assets")
	if _, err := os.Stat(filepath.Join(root, "INVENTORY.tsv")); err != nil {
		t.Skip("the shared assets are absent: ", err)
	}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(p string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(p); err == nil && !d.IsDir() && (ext == ".gltf" || ext == ".glb") {
				rel, _ := filepath.Rel(root, p)
				f(filepath.ToSlash(rel), p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestConvertAssets converts every shared model. What loads must convert, the
// result must pass validation, agree with what was told, and name textures
// that are there.
func TestConvertAssets(t *testing.T) {
	var converted, refused atomic.Int32
	seen := 0
	t.Cleanup(func() {
		t.Logf("%d files converted, %d refused", converted.Load(), refused.Load())
		if n := converted.Load(); n+refused.Load() > 200 && n < 150 { // not with -run
			t.Errorf("only %d files were converted", n)
		}
	})
	eachModel(t, func(name, path string) {
		if (testing.Short() || race.Enabled) && strings.Contains(name, "24_gpu_instancing") {
			return // eight million triangles
		}
		if seen++; race.Enabled && seen%3 > 0 {
			return // make test converts all of them without the detector
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			out := filepath.Join(dir, "model.untold")
			opts := ClassicOptions()
			opts.Jobs = 2
			res, err := Convert(context.Background(), path, out, opts)
			if err != nil {
				refused.Add(1)
				var g *gltfscene.Error
				if !errors.As(err, &g) && !errors.Is(err, ErrNothing) && !errors.Is(err, texture.ErrDamaged) {
					t.Errorf("an error without a type: %v", err)
				}
				if strings.ContainsAny(err.Error(), "\n\r") {
					t.Errorf("not one line: %q", err)
				}
				if _, err := os.Stat(dir); err == nil {
					t.Error("a failure left a folder behind")
				}
				return
			}
			converted.Add(1)
			checkContainer(t, out)
			checkTold(t, res)
		})
	}, "features", "models", "kits", "invalid", "validator-accepted")
}

// checkTold compares the result with the files.
func checkTold(t *testing.T, res *ConvertResult) {
	t.Helper()
	r, f := openFile(t, res.Path)
	disk := testfile.ReadTree(t, filepath.Dir(res.Path))
	if int64(len(disk["model.untold"])) != res.Bytes || len(f.Meshes) != res.Meshes || len(f.Materials) != res.Materials || r.Header().WorldBounds != res.Bounds {
		t.Errorf("told %+v", res)
	}
	textures, bytes := 0, int64(0)
	for name, data := range disk {
		if name != "model.untold" {
			textures++
			bytes += int64(len(data))
			if !strings.HasPrefix(name, texture.Folder+"/") {
				t.Errorf("unexpected file %s", name)
			}
		}
	}
	if textures != res.Textures || bytes != res.TextureBytes {
		t.Errorf("%d textures of %d bytes, told %d of %d", textures, bytes, res.Textures, res.TextureBytes)
	}
	for _, tex := range f.Textures {
		if _, ok := disk[r.String(tex.URIOffset)]; !ok {
			t.Errorf("texture %q is not there", r.String(tex.URIOffset))
		}
	}
	for _, n := range res.Notes {
		if n.Code == "" || n.Message == "" || n.Count <= 0 {
			t.Errorf("note %+v", n)
		}
	}
}

// TestConvertIgnoresJobs: the bytes do not depend on the number of workers,
// nor does what is told.
func TestConvertIgnoresJobs(t *testing.T) {
	chosen := map[string]bool{
		"models/FlightHelmet/FlightHelmet.gltf": true, "features/TextureTransformTest/TextureTransformTest.gltf": true,
		"features/BoxTexturedWebp/BoxTexturedWebp.gltf": true, "features/GpuInstancesMetadata/GpuInstancesMetadata.gltf": true,
		"models/terrain/terrain.glb": true, "features/CornellBox/CornellBox.glb": true, "models/webxr-camp/camp.gltf": true,
		"features/MeshPrimitiveModes/MeshPrimitiveModes.gltf": true,
	}
	eachModel(t, func(name, path string) {
		if !chosen[name] || testing.Short() && strings.Contains(name, "Helmet") {
			return
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files map[string]string
			var told string
			for _, jobs := range []int{1, 2, 7} {
				opts := ClassicOptions()
				opts.Jobs = jobs
				dir := t.TempDir()
				res, err := Convert(context.Background(), path, filepath.Join(dir, "model.untold"), opts)
				if err != nil {
					t.Fatal(err)
				}
				res.Path = ""
				got, text := testfile.ReadTree(t, dir), fmt.Sprintf("%+v", res)
				if files == nil {
					files, told = got, text
				}
				if diff := cmp.Diff(files, got); diff != "" {
					t.Errorf("%d jobs: other bytes", jobs)
				}
				if text != told {
					t.Errorf("%d jobs: told %s, before %s", jobs, text, told)
				}
			}
		})
	}, "features", "models")
}
