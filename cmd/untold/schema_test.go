package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/diff"
	"github.com/untoldkit/untold/cook/gltfexport"
	"github.com/untoldkit/untold/cook/levelcheck"
	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/cook/report"
	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/cook/tiles3d"
	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/goschema"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/stats"
	"github.com/untoldkit/untold/runtime/remote"
	"github.com/untoldkit/untold/runtime/serve"
)

// Lines of serve --json have the name of the event before what serve tells.
type (
	listeningLine struct {
		Event  string   `json:"event"`
		URL    string   `json:"url"`
		Dir    string   `json:"dir"`
		Scenes []string `json:"scenes"` // addresses of manifests
	}
	requestLine struct {
		Event string `json:"event"`
		serve.Entry
	}
	stoppedLine struct {
		Event string `json:"event"`
		serve.Stats
	}
)

// eventLine is a line of --events; which keys it has depends on the event.
type eventLine struct {
	T       float64  `json:"t"`
	Frame   int      `json:"frame"`
	Event   string   `json:"event"`
	Tile    *string  `json:"tile,omitempty"`
	Mesh    *string  `json:"mesh,omitempty"`
	Region  *string  `json:"region,omitempty"`
	Count   *int     `json:"count,omitempty"`
	Level   *int     `json:"level,omitempty"`
	Rep     *string  `json:"rep,omitempty"`
	Message *string  `json:"message,omitempty"`
	Attempt *int     `json:"attempt,omitempty"`
	RetryIn *float64 `json:"retry_in,omitempty"`
	Error   *string  `json:"error,omitempty"`
	Texture *string  `json:"texture,omitempty"`
	To      *int     `json:"to,omitempty"`
}

// findingRow is how a finding encodes itself.
type findingRow struct {
	Code     string  `json:"code"`
	Severity string  `json:"severity"`
	Message  string  `json:"message"`
	Hint     string  `json:"hint"`
	Chunk    *string `json:"chunk"`
	Record   *int    `json:"record"`
	Offset   *int64  `json:"offset"`
	Pointer  *string `json:"pointer,omitempty"`
}

// schemaTypes are the values whose types the schemas describe.
var schemaTypes = map[string]any{
	"cook": cookedJSON{}, "cook-report": report.Report{}, "tune": tunedJSON{}, "bench": benchReport{}, "cook-shard": cook.ShardResult{}, "cook-plan": cook.PlanFile{}, "convert": cook.ConvertResult{}, "validate": verify.Report{},
	"inspect-manifest": sceneSummary{}, "inspect-levels": []levelcheck.Level{}, "inspect-container": containerView{}, "inspect-chunk": goschema.AnyOf{entityChunk{}, meshChunk{}, materialChunk{}, textureChunk{}, plainChunk{}},
	"inspect-mesh": decodedMesh{}, "inspect-strings": []stringRow{}, "inspect-stats": fileStats{}, "inspect-texture": textureFileView{},
	"diff": diff.Result{}, "export": gltfexport.Result{}, "export-3dtiles": tiles3d.Result{}, "simulate": simulatedJSON{}, "preview": previewedJSON{},
	"preview-compare": preview.Comparison{}, "preview-pops": preview.Pops{}, "frame-log": stats.Frame{}, "events": eventLine{},
	"publish": publish.Report{}, "store-stat": store.Stats{}, "store-verify": []store.Fault{}, "store-gc": store.Removed{},
	"cache-ls": []remote.Entry{}, "cache-stat": remote.CacheStat{}, "cache-verify": cacheVerdict{},
	"serve-listening": listeningLine{}, "serve-request": requestLine{}, "serve-stopped": stoppedLine{},
	"doctor": doctorReport{}, "explain": tileStory{}, "inspect-damaged": damagedContainer{},
	"manifest-bands": bandsReport{}, "manifest-build": builtResult{}, "figures": []listedFigure{}, "config-show": shownConfig{}, "schema": []schemaList{},
}

// figureTypes are those whose keys are figures.
var figureTypes = []string{"simulate.Report", "stats.Report", "stats.BatchFigures", "manifest.Figures", "report.Figures", "verify.Figures"}

// generate makes a schema of its type.
func generate(t *testing.T, name, of string) []byte {
	t.Helper()
	box := `{"type": "array", "items": {"type": "number"}}`
	rows := `{"enum": ["cook", "cook_again", "open_manifest", "open_tile", "stream", "simulate"]}`
	verdicts := `{"enum": ["faster", "slower", "same"]}`
	text, err := goschema.Of(schemaTypes[name], goschema.Options{
		ID: schemaID(name), Title: "untold " + of, Module: "github.com/untoldkit/untold", Root: filepath.Join("..", ".."),
		Types: map[string]string{
			"budget.Unit":  `{"enum": ["count", "bytes", "ms", "s", "m", "px", "share", "ratio"]}`,
			"diff.Change":  `{"enum": ["added", "removed", "changed"]}`,
			"serve.Fault":  `{"type": "string"}`,
			"interface {}": `{}`,
		},
		Fields: map[string]string{
			"verify.Figures.Figures":       "optional",
			"report.Object.place":          `{"enum": ["tiles", "shared", "none"]}`,
			"report.DroppedLevel.stage":    `{"enum": ["bands", "geometry"]}`,
			"main.listeningLine.event":     `{"const": "listening"}`,
			"main.requestLine.event":       `{"const": "request"}`,
			"main.stoppedLine.event":       `{"const": "stopped"}`,
			"main.setting.source":          `{"enum": ["default", "file", "environment", "flag"]}`,
			"main.setting.kind":            `{"enum": ["flag", "parameter"]}`,
			"main.findingRow.severity":     `{"enum": ["info", "warning", "error"]}`,
			"main.entityChunk.name":        `{"const": "ENTITY_TABLE"}`,
			"main.entityChunk.type":        `{"const": 2}`,
			"main.meshChunk.name":          `{"const": "MESH_TABLE"}`,
			"main.meshChunk.type":          `{"const": 3}`,
			"main.materialChunk.name":      `{"const": "MATERIAL_TABLE"}`,
			"main.materialChunk.type":      `{"const": 4}`,
			"main.textureChunk.name":       `{"const": "TEXTURE_TABLE"}`,
			"main.textureChunk.type":       `{"const": 5}`,
			"main.plainChunk.type":         `{"type": "integer", "anyOf": [{"minimum": 0, "maximum": 1}, {"minimum": 6}]}`,
			"main.plainChunk.name":         `{"description": "such as VERTEX_DATA", "type": "string"}`,
			"main.chunkPlace.compression":  `{"enum": ["none", "lz4", "zstd", "delta"]}`,
			"manifest.Bounds.min":          box,
			"manifest.Bounds.max":          box,
			"diff.Side.kind":               `{"enum": ["container", "manifest", "plan"]}`,
			"bench.Measured.row":           rows,
			"bench.Ratios.row":             rows,
			"bench.Ratios.verdict":         verdicts,
			"bench.Comparison.verdict":     verdicts,
			"store.Fault.kind":             `{"enum": ["damaged-result", "damaged-file", "missing-file"]}`,
			"cook.TextureTotals.mode":      `{"enum": ["copy", "resize", "bc", "astc", "ktx2"]}`,
			"report.Totals.texture_mode":   `{"enum": ["copy", "resize", "bc", "astc", "ktx2"]}`,
			"main.headerView.content_hash": `{"type": "string", "pattern": "^[0-9a-f]{64}$"}`,
		},
		As: map[string]any{"finding.Finding": findingRow{}},
		Meaning: func(of, key string) string {
			if !slices.Contains(figureTypes, of) {
				return ""
			}
			f, _ := budget.Find(key)
			return f.Meaning
		},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

// TestSchemasAreCurrent: the schemas are those of the types; -update rewrites
// them.
func TestSchemasAreCurrent(t *testing.T) {
	files := map[string]bool{}
	for _, d := range schemaDocs {
		if schemaTypes[d.name] == nil {
			continue
		}
		path := filepath.Join("schemas", d.name+schemaSuffix)
		files[filepath.Base(path)] = true
		text := generate(t, d.name, d.of)
		if *update {
			testfile.Write(t, path, text)
			continue
		}
		if there, err := os.ReadFile(path); err != nil || !bytes.Equal(there, text) {
			t.Errorf("%s is not that of its type (%v); go test ./cmd/untold -run TestSchemasAreCurrent -update rewrites it", path, err)
		}
	}
	for name := range schemaTypes {
		if !slices.Contains(schemaNames(), name) {
			t.Errorf("the schema %s is not listed", name)
		}
	}
	entries, err := os.ReadDir("schemas")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !files[e.Name()] {
			t.Errorf("schemas/%s is of nothing", e.Name())
		}
	}
}

// TestEveryJSONHasASchema: the schemas name every command that prints JSON.
func TestEveryJSONHasASchema(t *testing.T) {
	var all strings.Builder
	for _, d := range schemaDocs {
		all.WriteString(d.of + "\n")
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		asJSON := c.Flags().Lookup("json") != nil || c.InheritedFlags().Lookup("json") != nil
		words := strings.TrimPrefix(c.CommandPath(), "untold ")
		if c.Name() == "clear" {
			words = "cache stat and clear"
		}
		if asJSON && c.Runnable() && !c.HasSubCommands() && !strings.Contains(all.String(), words+" ") {
			t.Errorf("untold %s prints JSON, and no schema is of it", words)
		}
	}
	visit(newRoot(&app{}))
}

// compileSchema compiles what untold schema prints.
func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	text, err := schemaText(newRoot(&app{}), name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("mem:///"+name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///" + name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

// schemaJudge holds outputs of commands against schemas.
type schemaJudge struct {
	seen     map[string]bool
	compiled map[string]*jsonschema.Schema
}

func newJudge() *schemaJudge {
	return &schemaJudge{seen: map[string]bool{}, compiled: map[string]*jsonschema.Schema{}}
}

// judge takes a JSON document, and what it becomes without each of its keys and with
// one more.
func (j *schemaJudge) judge(t *testing.T, name, text string) {
	t.Helper()
	s := j.compiled[name]
	if s == nil {
		s = compileSchema(t, name)
		j.compiled[name] = s
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v\n%.500s", name, err, text)
		return
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s: %v\n%.2000s", name, err, text)
		return
	}
	j.seen[name] = true
	object, ok := doc.(map[string]any)
	if list, isList := doc.([]any); isList && len(list) > 0 {
		object, ok = list[0].(map[string]any)
	}
	if !ok {
		return
	}
	object["one_more"] = 1
	if s.Validate(doc) == nil {
		t.Errorf("%s lets any key pass", name)
	}
	delete(object, "one_more")
	optional := 0
	for _, key := range slices.Sorted(maps.Keys(object)) {
		v := object[key]
		delete(object, key)
		object[key+"_"] = v // a key that has another name
		if s.Validate(doc) == nil {
			t.Errorf("%s lets pass that %s is called otherwise", name, key)
		}
		delete(object, key+"_")
		if s.Validate(doc) == nil {
			optional++
		}
		object[key] = v
	}
	if name != "events" && optional > len(object)/2+1 {
		t.Errorf("%s: %d of %d keys may be missing", name, optional, len(object))
	}
}

// lines judges JSON lines.
func (j *schemaJudge) lines(t *testing.T, name, text string) {
	t.Helper()
	kinds := map[string]bool{}
	for line := range strings.Lines(text) {
		var e struct {
			Event string `json:"event"`
		}
		if json.Unmarshal([]byte(line), &e) != nil || kinds[e.Event] {
			continue // one of each kind
		}
		kinds[e.Event] = true
		j.judge(t, name, line)
	}
}

// TestSchemasAgainstOutputs: what commands print is as its schema says, and the schema
// notices a key that is gone, new or called otherwise.
func TestSchemasAgainstOutputs(t *testing.T) {
	j := newJudge()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := func(codes string, args ...string) string {
		t.Helper()
		var r result
		switch args[0] {
		case "cook", "bench", "tune": // with the detector they take long, and other tests run them
			r = execute(t, nil, args...)
		default:
			r = here(t, args...)
		}
		if !strings.Contains(codes, string(rune('0'+r.code))) {
			t.Errorf("%v: exit %d\n%.2000s%s", args, r.code, r.stdout, r.err)
		}
		return r.stdout
	}
	scene := testfile.Write(t, at("dunes.gltf"), dunes(28))
	painted := paintedScene(t)
	shared := at("store")
	damaged := testfile.Write(t, at("damaged.untold"), "UNTOLD, but not really")

	// Cooks, of which all else is made.
	j.judge(t, "cook-plan", text("0", "cook", scene, "--dry-run", "--plan", at("shards.plan"), "--json"))
	j.judge(t, "cook-shard", text("0", "cook", scene, "--shard", "0/1", "--store", shared, "--whole-limit", "0", "--json"))
	j.judge(t, "cook", text("0", "cook", scene, "-o", at("out"), "--sync=false", "--store", shared, "--whole-limit", "0", "--json", "--report", at("report.json"), "--fail-if", "warnings>9", "--also", "3dtiles", "--explain", "tile_0_0_0"))
	j.judge(t, "cook-report", string(testfile.Read(t, at("report.json"))))
	j.judge(t, "cook", text("0", "cook", painted, "-o", at("painted"), "--sync=false", "--partition", "quadtree", "--textures", "bc", "--json", "--report", at("painted.json")))
	j.judge(t, "cook-report", string(testfile.Read(t, at("painted.json"))))
	j.judge(t, "cook", text("0", "cook", scene, "--dry-run", "--plan", at("plan.json"), "--json"))
	j.judge(t, "plan", string(testfile.Read(t, at("plan.json"))))
	j.judge(t, "convert", text("0", "convert", painted, "-o", at("one.untold"), "--json"))
	manifest := at("out/dunes.json")
	tile := at("out/tiles/tile_0_0_0.untold")
	if err := compileSchema(t, "manifest").Validate(decoded(t, testfile.Read(t, manifest))); err != nil {
		t.Error(err)
	}
	j.seen["manifest"] = true // it lets keys of others pass, for readers of other versions

	for _, c := range []struct {
		name, codes string
		args        []string
	}{
		{"bench", "0", []string{"bench", scene, "--json"}},
		{"tune", "0", []string{"tune", scene, "-o", at("tuned.yaml"), "--duration", "1s", "--trials", "2", "--json"}},
		{"validate", "0", []string{"validate", at("out"), "--json", "--fail-if", "tiles>9"}},
		{"validate", "1", []string{"validate", at("one.untold"), manifest, damaged, "--json"}},
		{"inspect-manifest", "0", []string{"inspect", manifest, "--json"}},
		{"inspect-levels", "0", []string{"inspect", manifest, "--levels", "--json"}},
		{"inspect-container", "0", []string{"inspect", at("one.untold"), "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "MESH_TABLE", "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "STRING_TABLE", "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "ENTITY_TABLE", "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "MATERIAL_TABLE", "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "TEXTURE_TABLE", "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "VERTEX_DATA", "--json"}},
		{"inspect-chunk", "0", []string{"inspect", tile, "--chunk", "INDEX_DATA", "--json"}},
		{"inspect-mesh", "0", []string{"inspect", at("one.untold"), "--mesh", "0", "--json"}},
		{"inspect-strings", "0", []string{"inspect", tile, "--strings", "--json"}},
		{"inspect-stats", "0", []string{"inspect", tile, "--stats", "--json"}},
		{"inspect-texture", "0", []string{"inspect", at("painted/tiles/Textures/paint.utex"), "--json"}},
		{"diff", "1", []string{"diff", at("out"), at("painted"), "--json"}},
		{"diff", "1", []string{"diff", tile, at("one.untold"), "--json"}},
		{"diff", "0", []string{"diff", tile, tile, "--json"}},
		{"export", "0", []string{"export", at("out"), "-o", at("dunes.glb"), "--json"}},
		{"export-3dtiles", "0", []string{"export", at("out"), "--format", "3dtiles", "-o", at("tileset"), "--json"}},
		{"simulate", "0", []string{"simulate", manifest, "--orbit", "--duration", "1s", "--json", "--fail-if", "undrawn>0"}},
		{"publish", "0", []string{"publish", at("out"), at("site"), "--json"}},
		{"store-stat", "0", []string{"store", "stat", shared, "--json"}},
		{"store-verify", "0", []string{"store", "verify", shared, "--json"}},
		{"store-gc", "0", []string{"store", "gc", shared, "--max-size", "1G", "--json"}},
		{"manifest-bands", "0", []string{"manifest", "bands", manifest, "--json"}},
		{"manifest-build", "0", []string{"manifest", "build", at("out/tiles"), "-o", at("out/built.json"), "--json"}},
		{"figures", "0", []string{"figures", "--json"}},
		{"config-show", "0", []string{"config", "show", scene, "--json"}},
		{"config-show", "0", []string{"config", "show", manifest, "--for", "simulate", "--json"}},
		{"schema", "0", []string{"schema", "--json"}},
	} {
		j.judge(t, c.name, text(c.codes, c.args...))
	}
	j.judge(t, "doctor", text("01", "doctor", "--json"))
	j.judge(t, "explain", text("0", "explain", manifest, "tile_0_0_0", "--json"))
	cut := testfile.Read(t, filepath.Join("..", "..", "testdata", "vectors", "triangle_none.untold"))
	j.judge(t, "inspect-damaged", text("1", "inspect", testfile.Write(t, at("cut.untold"), cut[:len(cut)-1]), "--json"))
	j.lines(t, "events", text("0", "simulate", manifest, "--orbit", "--duration", "1s", "--events", "-"))
	j.lines(t, "events", text("0", "simulate", filepath.Join("..", "..", "testdata", "simulate", "d01.json"), "--events", "-"))

	// A cache, and a server that fills it.
	cache := filledCache(t)
	j.judge(t, "cache-ls", text("0", "cache", "ls", "--cache-dir", cache, "--json"))
	j.judge(t, "cache-verify", text("0", "cache", "verify", "--cache-dir", cache, "--json"))
	j.judge(t, "cache-stat", text("0", "cache", "stat", "--cache-dir", cache, "--json"))
	server := startServe(t, at("out"), "--json")
	j.judge(t, "simulate", text("0", "simulate", server.scenes[0], "--orbit", "--duration", "1s", "--json", "--cache-dir", at("cache")))
	j.serve(t, server)

	// What draws is held against these where it is tested.
	for _, name := range []string{"preview", "preview-compare", "preview-pops", "frame-log"} {
		j.seen[name] = true
	}
	j.seen["untold.yaml"], j.seen["config"] = true, true // TestSettingsSchema
	for _, name := range schemaNames() {
		if !j.seen[name] {
			t.Errorf("nothing was held against the schema %s", name)
		}
	}
}

// serve judges what a server has said.
func (j *schemaJudge) serve(t *testing.T, s *server) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Log("no interrupts between processes on Windows: the last line of serve is not held against its schema")
		j.seen["serve-stopped"] = true
	} else if _, code := s.stop(t); code != 130 {
		t.Errorf("serve: exit %d", code)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.raw {
		var e logLine
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		j.lines(t, "serve-"+e.Event, line)
	}
}

// asSchema judges one output.
func asSchema(t *testing.T, name, text string) {
	t.Helper()
	newJudge().judge(t, name, text)
}

func decoded(t *testing.T, data []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestChunkSchema: a chunk's JSON is held against the schema of its own kind.
func TestChunkSchema(t *testing.T) {
	s := compileSchema(t, "inspect-chunk")
	const place = `"compression": "none", "offset": 1, "stored_size": 1, "size": 1, "element_count": 0`
	for text, want := range map[string]bool{
		`{"name": "MESH_TABLE", "type": 3, ` + place + `, "records": []}`:                       true,
		`{"name": "MESH_TABLE", "type": 3, ` + place + `}`:                                      false,
		`{"name": "MESH_TABLE", "type": 2, ` + place + `, "records": []}`:                       false,
		`{"name": "MESH_TABLE", "type": 3, ` + place + `, "records": [{"name": "a"}]}`:          false,
		`{"name": "VERTEX_DATA", "type": 6, ` + place + `}`:                                     true,
		`{"name": "VERTEX_DATA", "type": 6, ` + place + `, "records": []}`:                      false,
		`{"name": "65", "type": 65, ` + place + `}`:                                             true,
		`{"name": "VERTEX_DATA", "type": 6, ` + strings.Replace(place, "none", "gzip", 1) + `}`: false,
	} {
		if err := s.Validate(decoded(t, []byte(text))); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
