package bytelayout

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// reader compiles a Kaitai Struct file to JavaScript and prints what it reads of files,
// as JSON: objects of what a file stores and of its instances, bytes as hexadecimal
// text, numbers of 64 bits as numbers.
const reader = `
const fs = require('fs'), path = require('path'), vm = require('vm');
const [schema, ...files] = process.argv.slice(2);
const { KaitaiStream } = require('kaitai-struct');
const loaded = require('kaitai-struct-compiler');
const compiler = typeof loaded === 'function' ? new loaded() : loaded;
const tree = require('js-yaml').load(fs.readFileSync(schema, 'utf8'));
function plain(v) {
  if (v instanceof Uint8Array) return Buffer.from(v).toString('hex');
  if (Array.isArray(v)) return v.map(plain);
  if (typeof v === 'bigint') return Number(v);
  if (v === null || typeof v !== 'object') return v;
  const out = {};
  for (const k of Object.keys(v)) if (!k.startsWith('_')) out[k] = plain(v[k]);
  for (const k of Object.getOwnPropertyNames(Object.getPrototypeOf(v)))
    if (!k.startsWith('_') && k !== 'constructor' && k !== 'strings') { const w = v[k]; if (typeof w !== 'function') out[k] = plain(w); }
  return out;
}
compiler.compile('javascript', tree, null, false).then((made) => {
  const [name] = Object.keys(made).filter((n) => n.endsWith('.js'));
  const m = { exports: {} };
  vm.runInThisContext('(function (module, exports, require) {' + made[name] + '\n})')(m, m.exports, require);
  const Type = m.exports[path.basename(name, '.js')] || m.exports;
  console.log(JSON.stringify(files.map((f) => plain(new Type(new KaitaiStream(fs.readFileSync(f)))))));
}).catch((e) => { console.error(String(e.jl_Throwable__f_s || e.stack || e)); process.exit(1); });
`

// CompilerEnv names the variable that holds the folder with the compiler.
const CompilerEnv = "UNTOLD_KAITAI"

// Compiled reads files by what Kaitai Struct's own compiler makes of a schema. It skips
// the test where CompilerEnv is not set: the compiler is node's.
func Compiled[T any](t testing.TB, schema string, files []string) []T {
	t.Helper()
	dir := os.Getenv(CompilerEnv)
	if dir == "" {
		t.Skipf("set %s to a folder with `npm install kaitai-struct-compiler kaitai-struct js-yaml`", CompilerEnv)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	script := testfile.Write(t, filepath.Join(t.TempDir(), "read.cjs"), reader)
	cmd := exec.Command(node, append([]string{script, schema}, files...)...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read []T
	if err := json.Unmarshal(out, &read); err != nil || len(read) != len(files) {
		t.Fatalf("%d of %d files: %v", len(read), len(files), err)
	}
	return read
}
