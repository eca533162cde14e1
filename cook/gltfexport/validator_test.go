package gltfexport

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
)

// validatorScript prints a line of JSON per file.
const validatorScript = `
const v = require('gltf-validator'), fs = require('fs'), path = require('path');
(async () => {
  for (const f of process.argv.slice(1)) {
    const dir = path.dirname(f);
    const r = await v.validateBytes(new Uint8Array(fs.readFileSync(f)), {
      uri: f, maxIssues: 20,
      externalResourceFunction: async u => new Uint8Array(fs.readFileSync(path.join(dir, decodeURIComponent(u)))),
    });
    const m = r.issues.messages.filter(m => m.severity < 2);
    console.log(JSON.stringify({file: f, errors: r.issues.numErrors, messages: m}));
  }
})().catch(e => { console.error(e); process.exit(2); });
`

// verdict is a line of the script's output.
type verdict struct {
	File     string
	Errors   int
	Messages []struct{ Code, Message, Pointer string }
}

// validator returns the path of node. It skips the test when node or the
// module gltf-validator, which is looked up as node does (NODE_PATH), is
// absent.
func validator(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is absent")
	}
	if exec.Command(node, "-e", "require.resolve('gltf-validator')").Run() != nil {
		t.Skip("the node module gltf-validator is absent: set NODE_PATH to where it is installed")
	}
	return node
}

// validate runs the Khronos validator on files.
func validate(t *testing.T, node string, files []string) {
	t.Helper()
	cmd := exec.Command(node, append([]string{"-e", validatorScript, "--"}, files...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for dec := json.NewDecoder(out); dec.More(); n++ {
		var v verdict
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if v.Errors > 0 {
			t.Errorf("%s: %d errors: %+v", v.File, v.Errors, v.Messages)
		}
	}
	if err := cmd.Wait(); err != nil || n != len(files) {
		t.Errorf("%d of %d files were judged: %v", n, len(files), err)
	}
}

// TestValidator judges exports of everything that this package can write.
func TestValidator(t *testing.T) {
	node := validator(t)
	dir := t.TempDir()
	var files []string
	export := func(path, name string, opts ...Options) {
		t.Helper()
		out := filepath.Join(dir, name)
		if _, err := Export(context.Background(), path, out, append(opts, Options{})[0]); err != nil {
			t.Fatal(err)
		}
		files = append(files, out)
	}
	textured := t.TempDir()
	path := save(t, textured, "a.untold", texturedFile(t, textured))
	export(path, "textured.glb")
	export(path, "textured.gltf")
	export(path, "basis.glb", Options{KTX2: true})
	export(path, "basis.gltf", Options{KTX2: true})
	path = save(t, t.TempDir(), "a.untold", quadFile(t, func(*format.Builder) records.Material {
		m := blank()
		m.Flags, m.Emissive = records.MaterialUnlit|records.MaterialCutout|records.MaterialDoubleSided, [3]float32{5, 0, 0}
		return m
	}))
	export(path, "extensions.glb")
	export(save(t, t.TempDir(), "a.untold", format.NewBuilder(format.FileTile).File()), "empty.glb")
	town, _ := cookTown(t, 7)
	export(town, "town.glb")
	export(town, "town.gltf")
	far, _ := cookPyramid(t)
	export(far, "far.glb", Options{PyramidLevel: 1})
	export(far, "far.gltf", Options{PyramidLevel: 2})
	export(town, "small.glb", Options{Compress: true})
	export(town, "small.gltf", Options{Compress: true})
	export(far, "smallfar.glb", Options{Compress: true, PyramidLevel: 1})
	validate(t, node, files)
}

// TestValidatorModels judges exports of real models.
func TestValidatorModels(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	node := validator(t)
	dir := t.TempDir()
	var files []string
	for _, path := range models(t, "models") {
		container, out := filepath.Join(dir, "m.untold"), filepath.Join(dir, filepath.Base(path)+".glb")
		if _, err := cook.Convert(context.Background(), path, container, cook.ClassicOptions()); err != nil {
			t.Fatal(err)
		}
		if _, err := Export(context.Background(), container, out, Options{}); err != nil {
			t.Fatal(err)
		}
		files = append(files, out)
	}
	validate(t, node, files)
}
