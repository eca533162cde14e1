package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmuntal/gltf"
	"github.com/qmuntal/gltf/modeler"

	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/scenecheck"
	"github.com/untoldkit/untold/internal/scenegen"
	"github.com/untoldkit/untold/internal/testfile"
)

// generate runs the program and returns the file and its summary.
func generate(t *testing.T, args ...string) (path, summary string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "scene.glb")
	var log strings.Builder
	if err := run(append(args, "-o", path, "-texture-size", "16"), &log); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return path, log.String()
}

func TestSceneIsSound(t *testing.T) {
	tests := []struct {
		args             string
		minNodes, minTri int
		minMirrored      int
		maxSize          float64 // metres from side to side, with the ground
		names            []string
	}{
		{"-blocks 2", 500, 20000, 5, 700, []string{"Ground", "Building_1", "Sun", "Camera_Street", "Camera_Aerial", "Lamp_0_0_1", "Road_0_0_X", "Sidewalk_North"}},
		{"-blocks 1 -detail 0 -textures=false", 100, 5000, 0, 600, []string{"Ground", "Building_1"}},
		{"-kind office -floors 2", 1000, 50000, 20, 250, []string{"Ground", "Chair_0_1", "Desk_0_1", "Door_0_1", "Glazing_0_1", "Roof_0_1", "Toilet_0_1", "Switch_0_1", "Stairs_0_1", "Pipe_0_1"}},
		{"-kind forest -blocks 2", 300, 40000, 0, 250, []string{"Ground", "Tree_1", "Bush_1", "Building_1", "Fence_1", "Sun", "Camera_Low"}},
		{"-kind coast -blocks 1", 130, 15000, 0, 130, []string{"Ground", "Palm_1", "Fence_1", "Railing_1", "Mast_1", "Lamp_1", "Hut_1", "Camera_Low"}},
		{"-blocks 1 -unique -seed 3", 100, 5000, 0, 600, []string{"Ground"}},
	}
	for _, c := range tests {
		t.Run(c.args, func(t *testing.T) {
			path, summary := generate(t, strings.Fields(c.args)...)
			r, err := scenecheck.File(path)
			if err != nil {
				t.Fatal(err)
			}
			if r.Nodes < c.minNodes || r.DrawnTriangles < c.minTri || r.Mirrored < c.minMirrored || r.Skewed == 0 {
				t.Errorf("too little: %d nodes, %d triangles, %d mirrored, %d skewed", r.Nodes, r.DrawnTriangles, r.Mirrored, r.Skewed)
			}
			if r.Degenerate > 0 {
				t.Errorf("%d triangles have no area, some in %s", r.Degenerate, r.Worst)
			}
			if s := r.Box.Size(); max(s[0], s[2]) > c.maxSize || s[1] > 160 || min(s[0], s[1], s[2]) < 5 {
				t.Errorf("the scene measures %v m", s)
			}
			for _, n := range c.names {
				if r.Names[n] == 0 {
					t.Errorf("no node is called %s", n)
				}
			}
			for n, k := range r.Names {
				if k > 1 {
					t.Errorf("%d nodes are called %s", k, n)
				}
			}
			want := fmt.Sprintf("%d nodes, %d meshes, %d materials, %d drawn triangles, %d mesh triangles",
				r.Nodes, len(r.Doc.Meshes), len(r.Doc.Materials), r.DrawnTriangles, r.MeshTriangles)
			if !strings.Contains(summary, want) {
				t.Errorf("the summary %q does not say %q", summary, want)
			}
		})
	}
}

// TestFaces checks that stored normals agree with the winding everywhere and
// that closed parts look outward.
func TestFaces(t *testing.T) {
	closedParts := 0
	for _, args := range []string{"-blocks 3", "-kind office -floors 2", "-kind forest -blocks 2"} {
		path, _ := generate(t, strings.Fields(args)...)
		doc, err := gltf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range doc.Meshes {
			for _, p := range m.Primitives {
				pos, idx, err := scenecheck.Triangles(doc, p)
				if err != nil {
					t.Fatal(err)
				}
				// Also of double-sided parts, whose backs viewers turn around.
				checkNormals(t, doc, m.Name, p, pos, idx)
				if doc.Materials[*p.Material].DoubleSided {
					continue
				}
				if v, closed := scenecheck.Volume(pos, idx); closed {
					closedParts++
					if v <= 0 {
						t.Errorf("%s: the closed part of %s has the volume %g", m.Name, doc.Materials[*p.Material].Name, v)
					}
				}
			}
		}
	}
	if closedParts < 100 {
		t.Errorf("only %d closed parts", closedParts)
	}
}

func checkNormals(t *testing.T, doc *gltf.Document, name string, p *gltf.Primitive, pos []geom.Vec3, idx []uint32) {
	t.Helper()
	n, err := modeler.ReadNormal(doc, doc.Accessors[p.Attributes[gltf.NORMAL]], nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(idx); i += 3 {
		a, b, c := idx[i], idx[i+1], idx[i+2]
		face := pos[b].Sub(pos[a]).Cross(pos[c].Sub(pos[a]))
		sum := geom.FromF32(n[a]).Add(geom.FromF32(n[b])).Add(geom.FromF32(n[c]))
		if face.Dot(sum) <= 0 {
			t.Errorf("%s: triangle %d is wound against its normals", name, i/3)
			return
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	read := func(args ...string) []byte {
		path, _ := generate(t, args...)
		b := testfile.Read(t, path)
		return b
	}
	for _, kind := range []string{"city", "forest", "office", "boxes"} {
		a := read("-kind", kind, "-blocks", "1", "-floors", "2", "-seed", "5")
		if b := read("-kind", kind, "-blocks", "1", "-floors", "2", "-seed", "5"); !bytes.Equal(a, b) {
			t.Errorf("%s: the same seed gave different bytes", kind)
		}
		if b := read("-kind", kind, "-blocks", "1", "-floors", "2", "-seed", "6"); bytes.Equal(a, b) {
			t.Errorf("%s: different seeds gave the same bytes", kind)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, args := range []string{"-triangles 150000", "-nodes 9000", "-kind office -triangles 400000", "-kind office -nodes 6000 -floors 3", "-size 150"} {
		o, err := parse(append(strings.Fields(args), "-o", "x.glb"), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		n, err := o.Side()
		if err != nil {
			t.Fatal(err)
		}
		st := o.Count(n)
		if st.DrawnTriangles < o.Triangles || st.Nodes < o.Nodes || float64(n)*scenegen.Pitch < o.Size {
			t.Errorf("%s: %d per side give %d triangles and %d nodes", args, n, st.DrawnTriangles, st.Nodes)
		}
		if n > 1 {
			if less := o.Count(n - 1); o.Size == 0 && less.DrawnTriangles > 2*o.Triangles+1 && less.Nodes > 2*o.Nodes+1 {
				t.Errorf("%s: %d per side overshoots far", args, n)
			}
		}
	}
}

// TestDryRunCounts checks that counting sees what writing writes.
func TestDryRunCounts(t *testing.T) {
	for _, args := range []string{"-blocks 2", "-blocks 1 -unique", "-kind office", "-kind boxes -blocks 2"} {
		o, err := parse(append(strings.Fields(args), "-o", "x.glb"), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		st := o.Count(max(1, o.Blocks))
		_, summary := generate(t, strings.Fields(args)...)
		want := fmt.Sprintf("%d nodes, %d meshes", st.Nodes, st.Meshes)
		if !strings.Contains(summary, want) || !strings.Contains(summary, fmt.Sprintf("%d drawn triangles", st.DrawnTriangles)) {
			t.Errorf("%s: counted %s and %d triangles, wrote %q", args, want, st.DrawnTriangles, summary)
		}
	}
}

func TestTexturesAndFeatures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.gltf")
	if err := run([]string{"-o", path, "-blocks", "3", "-texture-size", "16"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	doc, err := gltf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, m := range doc.Materials {
		have["normal"] = have["normal"] || m.NormalTexture != nil
		have["mask"] = have["mask"] || m.AlphaMode == gltf.AlphaMask
		have["blend"] = have["blend"] || m.AlphaMode == gltf.AlphaBlend
		have["double"] = have["double"] || m.DoubleSided
		have["emissive"] = have["emissive"] || m.EmissiveTexture != nil
		have["orm"] = have["orm"] || m.PBRMetallicRoughness.MetallicRoughnessTexture != nil
		have["uv1"] = have["uv1"] || m.OcclusionTexture != nil && m.OcclusionTexture.TexCoord == 1
	}
	for _, m := range doc.Meshes {
		for _, p := range m.Primitives {
			for a := range p.Attributes {
				have[a] = true
			}
		}
	}
	for _, f := range []string{"normal", "mask", "blend", "double", "emissive", "orm", "uv1", gltf.TANGENT, gltf.COLOR_0, gltf.TEXCOORD_1} {
		if !have[f] {
			t.Errorf("the city has no %s", f)
		}
	}
	mimes := map[string]int{}
	for _, img := range doc.Images {
		mimes[img.MimeType]++
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), img.URI)); err != nil {
			t.Error(err)
		}
	}
	if mimes["image/png"] < 10 || mimes["image/jpeg"] < 1 {
		t.Errorf("images by type: %v", mimes)
	}
}

func TestFlagErrors(t *testing.T) {
	for _, args := range []string{
		"", "-o a.obj", "-o a.glb -kind castle", "-o a.glb -blocks -1", "-o a.glb -detail 4", "-o a.glb -floors 0",
		"-o a.glb -texture-size 8", "-o a.glb -size NaN", "-o a.glb -triangles -5", "-o a.glb extra", "-o a.glb -nodes 2000000000",
	} {
		err := run(strings.Fields(args), io.Discard)
		if err == nil {
			t.Errorf("%q: no error", args)
		} else if s := err.Error(); !strings.Contains(s, ": ") || strings.HasSuffix(s, ".") {
			t.Errorf("%q: the message %q is not in the house's form", args, s)
		}
	}
	if err := run([]string{"-h"}, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h gives %v", err)
	}
}
