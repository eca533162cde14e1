package gltfexport

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// models lists the files of a folder of the shared assets.
func models(t testing.TB, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(shared(t), folder), func(p string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(p); err == nil && !d.IsDir() && (ext == ".gltf" || ext == ".glb") {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRealModels converts real models, exports them and compares the result
// with the source: triangles, surface, box, materials and texture bytes.
func TestRealModels(t *testing.T) {
	for _, folder := range []string{"models", "features", "kits"} {
		list := models(t, folder)
		switch {
		case testing.Short():
			list = list[:min(len(list), 5)]
		case folder == "kits": // alike
			list = list[:min(len(list), 10)]
		}
		for i, path := range list {
			if race.Enabled && (i%4 > 0 || strings.Contains(path, "24_gpu_instancing")) {
				continue // make test compares all without the detector
			}
			t.Run(folder+"/"+filepath.Base(path), func(t *testing.T) {
				compareModel(t, path)
			})
		}
	}
}

func compareModel(t *testing.T, path string) {
	opts := cook.ClassicOptions()
	opts.AllowMissingImages, opts.AllowParentPaths = true, true
	container := filepath.Join(t.TempDir(), "m.untold")
	_, err := cook.Convert(context.Background(), path, container, opts)
	if errors.Is(err, cook.ErrNothing) || errors.Is(err, gltfscene.ErrUnsupported) || errors.Is(err, gltfscene.ErrMalformed) ||
		errors.Is(err, gltfscene.ErrMissingFile) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	src, err := gltfscene.Load(context.Background(), path, gltfscene.Options{Scene: gltfscene.DefaultScene, AllowMissingImages: true, AllowParentPaths: true})
	if err != nil {
		t.Fatal(err)
	}
	res, s := back(t, container, ".glb", Options{})
	a, b := measureScene(src), measureScene(s)
	// Positions are stored in single precision after baking: triangles whose
	// area is lost in rounding may come or go.
	if d := a.triangles - b.triangles; d < -a.triangles/100-1 || d > a.triangles/100+1 {
		t.Errorf("%d triangles became %d", a.triangles, b.triangles)
	}
	a.triangles = b.triangles
	// Far from the origin, single precision is coarse.
	far := max(a.max.Len(), a.min.Len()) / a.max.Sub(a.min).Len()
	if !a.near(b, 1e-4+3e-7*far) {
		t.Errorf("source %+v, export %+v", a, b)
	}
	compareRecords(t, container, res, s)
}

// compareRecords compares the materials and the texture bytes with those of
// the container. Texture faults do not occur in what cook has written.
func compareRecords(t *testing.T, container string, res *Result, s *gltfscene.Scene) {
	t.Helper()
	r, err := format.Open(container)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(res.Notes) != 0 || len(s.Materials) != len(r.Materials()) || len(s.Images) > len(r.Textures()) {
		t.Fatalf("%d materials and %d textures became %d and %d; notes %+v", len(r.Materials()), len(r.Textures()), len(s.Materials), len(s.Images), res.Notes)
	}
	byName := map[string][]*records.Material{}
	for i := range r.Materials() {
		m := &r.Materials()[i]
		byName[r.String(m.NameOffset)] = append(byName[r.String(m.NameOffset)], m)
	}
	texture := func(record uint32) []byte {
		if record == records.NoIndex {
			return nil
		}
		b := testfile.Read(t, filepath.Join(filepath.Dir(container), filepath.FromSlash(r.String(r.Textures()[record].URIOffset))))
		return b
	}
	exported := func(ref gltfscene.TextureRef) []byte {
		if ref.Image < 0 {
			return nil
		}
		b, err := s.Images[ref.Image].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for i := range s.Materials {
		m := &s.Materials[i]
		if !slices.ContainsFunc(byName[m.Name], func(w *records.Material) bool {
			return sameValues(m, w) &&
				bytes.Equal(exported(m.BaseColorTex), texture(w.BaseColorTexture)) &&
				bytes.Equal(exported(m.NormalTex), texture(w.NormalTexture)) &&
				bytes.Equal(exported(m.MetalRoughTex), texture(w.MetallicTexture)) &&
				bytes.Equal(exported(m.OcclusionTex), texture(w.OcclusionTexture)) &&
				bytes.Equal(exported(m.EmissiveTex), texture(w.EmissiveTexture))
		}) {
			t.Errorf("material %q agrees with no record: %+v", m.Name, m)
		}
	}
}

// sameValues compares the factors; those of empty slots have no meaning.
func sameValues(m *gltfscene.Material, w *records.Material) bool {
	near := func(a, b float32) bool { d := a - b; return d <= 1e-6*max(a, b, 1) && -d <= 1e-6*max(a, b, 1) }
	ok := m.BaseColor == w.BaseColor && m.Metallic == w.Metallic && m.Roughness == w.Roughness &&
		uint32(m.AlphaMode) == w.Flags&records.MaterialAlphaMask &&
		m.DoubleSided == (w.Flags&records.MaterialDoubleSided != 0) && m.Unlit == (w.Flags&records.MaterialUnlit != 0)
	for i := range 3 {
		ok = ok && near(m.Emissive[i], w.Emissive[i])
	}
	if m.AlphaMode == gltfscene.AlphaMask {
		ok = ok && m.AlphaCutoff == w.AlphaCutoff
	}
	if w.NormalTexture != records.NoIndex {
		ok = ok && m.NormalScale == w.NormalScale
	}
	if w.OcclusionTexture != records.NoIndex {
		ok = ok && m.OcclusionStrength == w.OcclusionStrength
	}
	return ok
}
