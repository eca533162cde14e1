package cook

import (
	"bytes"
	"context"
	"errors"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/partition"
)

// fuzzCookOptions are the ways in which inputs are cooked.
func fuzzCookOptions(which uint8) Options {
	o := DefaultOptions()
	o.Jobs = 2
	o.Clip = which&1 == 0
	o.Merge = which&2 == 0
	o.Instances = which&4 != 0
	if which&8 != 0 {
		o.LODs = []manifest.LODLevel{{SwitchDistance: 60, DecimateRatio: 0.5}}
		o.HLODs = []manifest.HLODLevel{{Suffix: "_hlod", SwitchDistance: 90, ReductionRatio: 0.1}}
	}
	o.Partition = []string{PartitionGrid, PartitionGrid, PartitionQuadtree, PartitionKDTree}[which>>4&3]
	o.Floors.MinObjects = 1
	o.AutoTileSize = which>>4&3 == 1
	o.Textures = []texture.Mode{texture.ModeCopy, texture.ModeCopy, texture.ModeResize, texture.ModeBC}[which>>6]
	o.AllowMissingImages = true
	return o
}

// FuzzCook cooks any glTF or GLB bytes in any way. What cooks is a folder in
// which the validator finds no error and of which every file opens; what does
// not leaves the folder as it was, with an error in one line.
func FuzzCook(f *testing.F) {
	for _, d := range fuzzScenes() {
		data := testfile.Read(f, d.save(f))
		for _, which := range []uint8{0, 0b01_00_1000, 0b11_10_1110, 0b10_01_0001, 0b00_11_0100} {
			f.Add(data, which)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		if len(data) > 64<<10 {
			return
		}
		name := "scene.gltf"
		if bytes.HasPrefix(data, []byte("glTF")) {
			name = "scene.glb"
		}
		in := testfile.Write(t, filepath.Join(t.TempDir(), name), data)
		// Declared counts bound what a small file asks for: the accessors of a
		// file without bytes for them are as large as they say.
		s, err := gltfscene.LoadBytes(context.Background(), name, data, gltfscene.Options{Scene: gltfscene.DefaultScene, Jobs: 2, MaxDecodedBytes: 1 << 20})
		if err != nil || s.Triangles() > 2000 {
			return
		}
		out := filepath.Join(t.TempDir(), "out")
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 2 << 30}, func() { cookAndJudge(t, in, out, fuzzCookOptions(which)) })
	})
}

// fuzzScenes use most of what a cook looks at.
func fuzzScenes() []*model {
	plain := &model{}
	plain.node("A", plain.square(0))
	plain.node("B", plain.square(30))["translation"] = []float64{0, 0, 40}

	painted := &model{}
	sq := painted.square(20)
	sq["material"] = add(&painted.materials, obj{
		"alphaMode": "MASK", "doubleSided": true, "emissiveFactor": []float64{1, 0, 0},
		"pbrMetallicRoughness": obj{"baseColorTexture": obj{"index": painted.texture(dataImage("red", color.NRGBA{255, 0, 0, 200}))}},
		"normalTexture":        obj{"index": painted.texture(dataImage("up", color.NRGBA{128, 128, 255, 255}))},
	})
	painted.node("NM_P", sq)["scale"] = []float64{-3, 2, 1}
	painted.node("Q_LOD0", painted.square(1))
	painted.node("Q_LOD1", painted.square(1))
	painted.node("Forced", painted.square(3))["extras"] = obj{"untold_tile_policy": "force_shared", "untold_streaming_priority_hint": "High"}

	ground := &model{}
	a := ground.node("Ground", ground.square(0))
	a["scale"], a["rotation"] = []float64{200, 90, 1}, []float64{-math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}
	for i := range 6 {
		b := obj{"name": "Chair", "mesh": a["mesh"], "translation": []float64{float64(7 * i), 3 * float64(i%2), 5}}
		add(&ground.nodes, b)
	}
	return []*model{plain, painted, ground}
}

// cookAndJudge cooks and verifies what must hold for any bytes.
func cookAndJudge(t *testing.T, in, out string, o Options) {
	t.Helper()
	res, err := Run(context.Background(), in, out, o)
	if err != nil {
		left, _ := os.ReadDir(out)
		switch text := err.Error(); {
		case len(left) > 0:
			t.Fatalf("%v left %v", err, left)
		case text == "" || strings.ContainsAny(text, "\n\r\t\x00\x1b") || len(text) > 4000:
			t.Fatalf("bad text: %q", text)
		case !fault(err):
			t.Fatalf("error of no kind: %v", err)
		}
		return
	}
	rep, err := verify.Paths(context.Background(), []string{out}, verify.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range rep.Files {
		for _, x := range file.Findings {
			if x.Severity == finding.Error {
				t.Errorf("%s: %s: %s", file.Path, x.Code, x.Message)
			}
		}
	}
	m, err := manifest.Load(res.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Payloads() {
		path, err := payloadpath.Resolve(out, p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := format.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.ReadGeometry(format.Geometry{})
		if closed := r.Close(); err != nil || closed != nil {
			t.Fatal(p, err, closed)
		}
	}
}

// fault reports whether an error says that the scene is at fault.
func fault(err error) bool {
	for _, kind := range []error{
		ErrNothing, ErrBadInput, texture.ErrDamaged, texture.ErrFormat, partition.ErrBadBox, gltfscene.ErrMalformed,
		gltfscene.ErrUnsupported, gltfscene.ErrOutsideFolder, gltfscene.ErrTooLarge, partition.ErrTooManyCells,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
