package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/testfile"
)

// paintedScene is boxScene with a texture of 48 x 24 pixels.
func paintedScene(t *testing.T) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 48, 24))
	for i := range img.Pix {
		img.Pix[i] = byte(i)
		if i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(boxScene(1), &doc); err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	doc["images"] = []m{{"name": "paint", "uri": "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())}}
	doc["textures"] = []m{{"source": 0}}
	doc["materials"] = []m{{"pbrMetallicRoughness": m{"baseColorTexture": m{"index": 0}}}}
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return testfile.Write(t, filepath.Join(t.TempDir(), "painted.gltf"), data)
}

func TestTextureFlags(t *testing.T) {
	scene := paintedScene(t)
	for _, c := range []struct {
		args  string
		file  string // that the textures folder holds, empty for a refusal
		width int
		says  string // on stderr
	}{
		{"", "paint.png", 48, ""},
		{"--textures copy", "paint.png", 48, ""},
		{"--textures resize", "paint.png", 48, "textures (resize): 1 image"},
		{"--max-texture 12", "paint.png", 12, "megapixels"},
		{"--textures bc", "paint.utex", 48, "reference engine"},
		{"--textures bc --max-texture 20", "paint.utex", 20, "of video memory"},
		{"--textures bc --texture-quality high --max-texture 20", "paint.utex", 20, "of video memory"},
		{"--textures ktx2", "paint.ktx2", 48, "reads none"},
		{"--textures ktx2 --max-texture 22", "paint.ktx2", 20, "of video memory"},
		{"--textures astc", "paint.utex", 48, "of video memory"},
		{"--textures astc --astc-block 8x8 --texture-quality high --max-texture 20", "paint.utex", 20, "of video memory"},
		{"--textures etc", "", 0, "use copy, resize, bc, astc, ktx2"},
		{"--textures astc --astc-block 7x7", "", 0, "use auto, 4x4, 5x5, 6x6, 8x8"},
		{"--textures astc --texture-quality best", "", 0, "use fast or high"},
		{"--textures bc --astc-block 4x4", "", 0, "goes with --textures astc"},
		{"--texture-quality high", "", 0, "goes with --textures astc or bc"},
		{"--textures copy --max-texture 8", "", 0, "--textures resize, bc, astc or ktx2"},
		{"--max-texture -1", "", 0, "1 or more"},
	} {
		for _, command := range []string{"cook", "convert"} {
			dir := t.TempDir()
			out, textures := dir, filepath.Join(dir, "tiles", "Textures")
			if command == "convert" {
				out, textures = filepath.Join(dir, "m.untold"), filepath.Join(dir, "Textures")
			}
			r := execute(t, nil, append([]string{command, scene, "-o", out}, strings.Fields(c.args)...)...)
			if !strings.Contains(r.err, c.says) {
				t.Errorf("%s %s: %q lacks %q", command, c.args, r.err, c.says)
			}
			if n := strings.Count(r.err, "reference engine"); (n == 1) != (strings.HasPrefix(c.args, "--textures bc") && c.file != "" || strings.HasPrefix(c.args, "--textures ktx2")) {
				t.Errorf("%s %s: the reference engine is named %d times", command, c.args, n)
			}
			if c.file == "" {
				if r.code != 2 {
					t.Errorf("%s %s: exit %d", command, c.args, r.code)
				}
				continue
			}
			file := filepath.Join(textures, c.file)
			if command == "convert" { // names end in a part of the content's hash
				base, ext, _ := strings.Cut(c.file, ".")
				if found, err := filepath.Glob(filepath.Join(textures, base+"_????????."+ext)); err == nil && len(found) == 1 {
					file = found[0]
				}
			}
			if w := widthOf(t, file); r.code != 0 || w != c.width {
				t.Errorf("%s %s: exit %d, %d texels wide, want %d", command, c.args, r.code, w, c.width)
			}
			if list, _ := os.ReadDir(textures); len(list) != 1 {
				t.Errorf("%s %s: %v", command, c.args, list)
			}
		}
	}
	// A profile and the environment set the flags as well.
	testfile.Write(t, filepath.Join(filepath.Dir(scene), "untold.yaml"), "textures: bc\n")
	dir := t.TempDir()
	r := execute(t, []string{"UNTOLD_MAX_TEXTURE=10"}, "cook", scene, "-o", dir)
	if w := widthOf(t, filepath.Join(dir, "tiles", "Textures", "paint.utex")); r.code != 0 || w != 10 {
		t.Errorf("exit %d, %d texels: %s", r.code, w, r.err)
	}
}

// widthOf returns the width of a texture file.
func widthOf(t *testing.T, path string) int {
	t.Helper()
	if filepath.Ext(path) == ".utex" {
		r, err := utex.Open(path)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer r.Close()
		return r.Width
	}
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	if filepath.Ext(path) == ".ktx2" {
		k, err := ktx2.Open(f, 1<<40)
		if err != nil {
			t.Error(err)
			return 0
		}
		return k.Width
	}
	cfg, err := png.DecodeConfig(f)
	if err != nil {
		t.Error(err)
	}
	return cfg.Width
}

// TestValidateTexture judges a cooked texture by name.
func TestValidateTexture(t *testing.T) {
	dir := t.TempDir()
	if r := execute(t, nil, "cook", paintedScene(t), "-o", dir, "--textures", "bc"); r.code != 0 {
		t.Fatal(r.err)
	}
	path := filepath.Join(dir, "tiles", "Textures", "paint.utex")
	if r := execute(t, nil, "validate", dir, path); r.code != 0 || !strings.Contains(r.stdout, "0 errors, 0 warnings") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if err := os.Truncate(path, 200); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, nil, "validate", path); r.code != 1 || !strings.Contains(r.stdout, string(utex.CodeLayout)) {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
}

// TestKTX2Scene: a scene with KTX2 is valid, is inspected, leads back to glTF, where its
// files stay as they are, and another mode removes them.
func TestKTX2Scene(t *testing.T) {
	dir, scene := t.TempDir(), paintedScene(t)
	if r := execute(t, nil, "cook", scene, "-o", dir, "--textures", "ktx2"); r.code != 0 {
		t.Fatal(r.err)
	}
	path := filepath.Join(dir, "tiles", "Textures", "paint.ktx2")
	if r := execute(t, nil, "cook", scene, "-o", t.TempDir(), "--textures", "ktx2", "--compat", "engine"); r.code == 0 || !strings.Contains(r.err, "reads no KTX2") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := execute(t, nil, "validate", dir, path); r.code != 0 || !strings.Contains(r.stdout, "0 errors, 0 warnings") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "inspect", path); r.code != 0 || !strings.Contains(r.stdout, "UASTC-sRGB, Zstandard") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "inspect", path, "--json"); r.code != 0 || !strings.Contains(r.stdout, `"container": "ktx2"`) {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	whole := testfile.Read(t, path)
	for mode, want := range map[string]bool{"ktx2": true, "copy": false} {
		out := filepath.Join(t.TempDir(), "model.glb")
		if r := execute(t, nil, "export", dir, "--textures", mode, "-o", out); r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.err)
		} else if has := bytes.Contains(testfile.Read(t, out), whole); has != want {
			t.Errorf("--textures %s: the file is in the model: %v", mode, has)
		}
	}
	damaged := filepath.Join(t.TempDir(), "a.ktx2")
	for name, data := range map[string][]byte{"cut off": whole[:len(whole)-5], "a level that does not inflate": append(bytes.Clone(whole[:len(whole)-40]), make([]byte, 40)...)} {
		testfile.Write(t, damaged, data)
		if r := execute(t, nil, "validate", damaged); r.code != 1 || !strings.Contains(r.stdout, "ktx2-damaged") {
			t.Errorf("%s: exit %d: %s%s", name, r.code, r.stdout, r.err)
		}
	}
	also := t.TempDir()
	if r := execute(t, nil, "cook", scene, "-o", also, "--textures", "ktx2", "--also", "3dtiles"); r.code != 0 {
		t.Fatal(r.err)
	}
	found := false
	for name, data := range testfile.ReadTree(t, also) {
		found = found || strings.Contains(name, "3dtiles") && strings.HasSuffix(name, ".ktx2") && string(data) == string(whole)
	}
	if !found {
		t.Error("the tileset has not the file of the cook")
	}
	if r := execute(t, nil, "cook", scene, "-o", dir, "--textures", "bc"); r.code != 0 {
		t.Fatal(r.err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the texture of the earlier mode is still there")
	}
}
