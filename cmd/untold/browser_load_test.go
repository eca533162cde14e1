package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// asked lists what a server was asked for since a number of requests: the paths below
// its address that end so, with the status of the answer; and how many bytes those had.
func (s *server) asked(since int, endings ...string) (list []string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.log[since:] {
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(l.Path, e) }) {
			list = append(list, fmt.Sprint(l.Status, " ", l.Path))
			bytes += l.Bytes
		}
	}
	return list, bytes
}

func (s *server) logged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

// before has a script run in every page from here on, before its own.
func (b *browser) before(t *testing.T, script string) {
	t.Helper()
	b.call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
}

// pageFetches is how many tiles and images the page itself has asked for, not its workers.
const pageFetches = `performance.getEntriesByType("resource").filter((e) => /\.(untold|utex|png|jpe?g)$/.test(e.name)).length`

// TestBrowserDecoders: workers fetch and decode; without them, when they are refused, and
// when one dies, the same is shown.
func TestBrowserDecoders(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	// What takes long on the thread that draws is counted; how long that is depends on
	// the machine.
	b.before(t, `globalThis.longTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => longTasks.push(Math.round(e.duration)))).observe({ type: "longtask" });
globalThis.began = [];
const query = location.search, Real = globalThis.Worker;
globalThis.Worker = class extends Real {
  constructor(...args) {
    if (query.includes("refused")) throw new Error("there are none here");
    super(...args);
    if (query.includes("early")) this.postMessage({ settings: { version: null } }); // before the program has come
    if (began.push(this) > 1 || !query.includes("dies")) return;
    this.addEventListener("message", () => setTimeout(() => this.dispatchEvent(new ErrorEvent("error", { message: "out of memory" })), 50), { once: true });
  }
};`)
	var want webStatus
	for _, c := range []struct {
		query string
		began int
		here  bool // the page does it itself
	}{
		{"workers=3", 3, false},
		{"workers=0", 0, true},
		{"workers=2&refused", 0, true},
		{"workers=2&dies", 3, false},
		{"workers=2&early", 2, false},
	} {
		st := b.open(t, s.url+"?shadows=-1&samples=1&cache=0&"+c.query, 2)
		if want.Tiles == 0 {
			want = st
		}
		if st.Draws != want.Draws || st.Triangles != want.Triangles || st.Tiles != want.Tiles || st.Undrawn != 0 {
			t.Errorf("%s: %+v, want %+v", c.query, st, want)
		}
		var fetched, began int
		b.eval(t, pageFetches, &fetched)
		if (fetched > 0) != c.here {
			t.Errorf("%s: the page itself has fetched %d tiles and images", c.query, fetched)
		}
		if b.eval(t, `began.length`, &began); began != c.began {
			t.Errorf("%s: %d workers", c.query, began)
		}
		var long []int
		b.eval(t, `longTasks`, &long)
		t.Logf("%s: tasks of the page above 50 ms: %v", c.query, long)
	}
}

// TestBrowserPackedManifest: a compressed copy of the manifest is read whatever the parts in
// which it comes, but once: who reads the manifest again gets the one that is there then. A
// page in place of the copy is none, and one that unpacks to too much is refused.
func TestBrowserPackedManifest(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	b.open(t, s.url+"?shadows=-1&samples=1", 1)
	var asked []string
	b.eval(t, `(async () => {
  const { Files } = await import("./.viewer/files.js");
  const base = new URL(".", location.href).href;
  const asked = [], real = fetch;
  globalThis.fetch = (a, o) => (asked.push(new URL(a).href.slice(base.length)), real(a, o));
  for (const packed of ["city.json?copy", "?page", "none.json.gz"]) {
    const files = new Files({ base, scene: "city.json", packed: base + packed, cache: 0 }, () => {});
    const fs = files.fs(), call = (name, ...args) => new Promise((done, failed) => fs[name](...args, (e, v) => (e ? failed(e) : done(v))));
    const fd = await call("open", "/served/city.json", 0, 0);
    const head = new Uint8Array(1);
    await call("read", fd, head, 0, 1, 0);
    if (head[0] !== 0x7b) asked.push("byte " + head[0]);
    await call("close", fd);
    asked.push("again");
    await files.distrust("/served/city.json");
    await files.find("/served/city.json");
  }
  globalThis.fetch = real;
  return asked;
})()`, &asked)
	want := []string{"city.json?copy", "again", "city.json", "?page", "city.json", "again", "city.json", "none.json.gz", "city.json", "again", "city.json"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	var read string
	b.eval(t, `(async () => {
  const [{ unpacked }, { lean }] = await Promise.all([import("./.viewer/gzip.js"), import("./.viewer/lean.js")]);
  const gzip = await new Response(new Blob(['{"a": 1}']).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
  const bytes = () => new ReadableStream({ start: (c) => (gzip.forEach((x) => c.enqueue(Uint8Array.of(x))), c.close()) });
  const text = new TextDecoder().decode((await lean(await unpacked(bytes()))).data);
  return text + (await lean(await unpacked(bytes()), 4).then(() => " taken", (e) => " " + e.message));
})()`, &read)
	if read != `{"a": 1} the manifest has more than 4 bytes` {
		t.Errorf("%q", read)
	}
}

// TestBrowserBrokenProgram: a program of WebGL that does not link is told, though that is
// found out in a frame.
func TestBrowserBrokenProgram(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	b.before(t, `const real = WebGL2RenderingContext.prototype.shaderSource;
WebGL2RenderingContext.prototype.shaderSource = function (s, text) { real.call(this, s, text + "\nfloat broken_on_purpose() { return nothing; }\n"); };`)
	b.show(t, s.url+"?shadows=-1&samples=1")
	var text string
	b.eval(t, failure, &text)
	if !strings.Contains(text, "cannot be shown") || !strings.Contains(text, "nothing") || strings.Contains(text, "by itself") {
		t.Errorf("%q", text)
	}
}

// TestBrowserNoScene: a scene that is not there is told by its address, in plain words.
func TestBrowserNoScene(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	b.show(t, s.url+"?scene=none.json")
	var text string
	b.eval(t, failure, &text)
	if !strings.Contains(text, s.url+"none.json is not there") || strings.Contains(text, "stat ") {
		t.Errorf("%q", text)
	}
}

// TestBrowserKeepsFiles: a second visit asks for the manifest alone, one after the scene
// was cooked again compares and fetches what is new.
func TestBrowserKeepsFiles(t *testing.T) {
	b, dir, s := browserCity(t, 160, 120)
	endings := []string{".untold", ".utex", ".png", ".jpg"}
	visit := func(query string) (list []string, bytes int64) {
		t.Helper()
		since := s.logged()
		if st := b.open(t, s.url+"?shadows=-1&samples=1&"+query, 2); st.Undrawn != 0 || st.Draws == 0 {
			t.Errorf("%+v", st)
		}
		// What is kept is written beside the frames.
		b.eval(t, `import("./.viewer/cache.js").then(async ({ DiskCache }) => {
  const list = performance.getEntriesByType("resource").length;
  for (let n = -1, i = 0; i < 200; i++) {
    const cache = await DiskCache.open(1e9), { bytes } = await cache.usage();
    cache.close();
    if (bytes === n) return list;
    n = bytes;
    await new Promise((done) => setTimeout(done, 300));
  }
})`, nil)
		return s.asked(since, endings...)
	}
	first, firstBytes := visit("")
	if len(first) < 5 || firstBytes == 0 {
		t.Fatalf("%v", first)
	}
	if again, bytes := visit(""); len(again) != 0 {
		t.Errorf("the second visit asks for %v: %d bytes", again, bytes)
	}
	scene := filepath.Join(dir, "city.json")
	text := testfile.Read(t, scene)
	testfile.Write(t, scene, string(text)+"\n")
	if compared, bytes := visit(""); len(compared) == 0 || bytes != 0 || slices.ContainsFunc(compared, func(l string) bool { return !strings.HasPrefix(l, "304 ") }) {
		t.Errorf("after a change of the manifest: %v: %d bytes", compared, bytes)
	}
	if again, _ := visit(""); len(again) != 0 {
		t.Errorf("what was compared is asked for again: %v", again)
	}
	if none, bytes := visit("cache=0"); len(none) < len(first) || bytes < firstBytes {
		t.Errorf("without a cache: %v: %d bytes", none, bytes)
	}
	if list, bytes := visit(""); bytes < firstBytes {
		t.Errorf("a cache that was switched off is still there: %v: %d bytes, first %d", list, bytes, firstBytes)
	}
}

// budgetOfCache is what a cache of 1000 bytes does, with a clock of its own; a promise of
// what went wrong.
const budgetOfCache = `import("./.viewer/cache.js").then(async ({ DiskCache }) => {
  const wrong = [];
  let now = 1e12;
  const clock = Date.now;
  Date.now = () => now;
  const expect = async (what, cache, urls, bytes) => {
    const u = await cache.usage();
    if (u.urls.sort().join() !== urls.join() || u.bytes !== bytes) wrong.push(what + ": " + u.urls + ", " + u.bytes + " bytes");
  };
  const file = (url, tag = "1") => ({ url, tag, modified: null, size: 1000, version: "v" });
  const bytes = (n, value) => new Uint8Array(n).fill(value);
  const cache = await DiskCache.open(1000, "budget");
  for (const url of ["a", "b", "c"]) {
    await cache.store(file(url), 0, bytes(300, 7));
    now += 20e3;
  }
  await cache.store(file("c"), 0, bytes(300, 8)); // the same part again
  await expect("three files", cache, ["a", "b", "c"], 900);
  now += 20e3;
  await cache.find("a"); // is the one used last now
  await cache.flush();
  now += 20e3;
  await cache.store(file("d"), 100, bytes(200, 9));
  await expect("those used longest ago go, until three quarters are left", cache, ["a", "d"], 500);
  const d = await cache.find("d"), data = await cache.read("d", 100);
  if (JSON.stringify(d.parts) !== "[[100,300]]" || data.length !== 200 || data[0] !== 9) wrong.push("d is " + JSON.stringify(d) + ": " + data);
  if ((await cache.read("d", 0)) || (await cache.find("b"))) wrong.push("there is more than was stored");
  await cache.read("a", 0);
  await cache.store(file("e"), 0, bytes(600, 1));
  await expect("what was used a moment ago stays", cache, ["a", "d", "e"], 1100);
  now += 20e3;
  await cache.store(file("e", "2"), 0, bytes(100, 2));
  await expect("of another version nothing stays", cache, ["a", "d", "e"], 600);
  await cache.store(file("f"), 0, bytes(1001, 2));
  await expect("what is larger than the cache is not stored", cache, ["a", "d", "e"], 600);
  await cache.drop("a");
  await expect("dropped", cache, ["d", "e"], 300);
  await cache.mark("d", "w");
  const other = await DiskCache.open(1000, "budget"); // of another page
  if ((await other.find("d")).version !== "w") wrong.push("the mark is lost");
  now += 20e3;
  const put = IDBObjectStore.prototype.put;
  let full = 2;
  IDBObjectStore.prototype.put = function (...args) {
    if (this.name === "parts" && full-- > 0) throw new DOMException("full", "QuotaExceededError");
    return put.apply(this, args);
  };
  await other.store(file("g"), 0, bytes(150, 3));
  await expect("a full disk is a smaller budget", cache, ["g"], 150);
  full = 100;
  await other.store(file("h"), 0, bytes(10, 3));
  await expect("a disk without room takes nothing", cache, ["g"], 150);
  IDBObjectStore.prototype.put = put;
  if (await DiskCache.open(0, "budget")) wrong.push("a cache of no bytes");
  await other.store(file("i"), 0, bytes(10, 3)); // it is gone: nothing happens
  const open = indexedDB.open;
  indexedDB.open = () => { throw new Error("not here"); };
  if (await DiskCache.open(1000, "budget")) wrong.push("a cache without a disk");
  indexedDB.open = open;
  Date.now = clock;
  return wrong;
})`

// TestBrowserCacheBudget: the rules of the cache on the browser's disk are those of
// docs/remote.md.
func TestBrowserCacheBudget(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	b.open(t, s.url+"?shadows=-1&samples=1&cache=0", 1)
	var wrong []string
	b.eval(t, budgetOfCache, &wrong)
	for _, text := range wrong {
		t.Error(text)
	}
}

// leanManifest cuts texts in many ways and returns what went wrong: what is left out of a
// manifest is the table of classified objects, wherever parts of the text end.
const leanManifest = `import("./.viewer/lean.js").then(({ Lean }) => {
  const wrong = [];
  const check = (text, want) => {
    const bytes = new TextEncoder().encode(text);
    for (const n of [1, 2, 3, 7, 64, bytes.length]) {
      const lean = new Lean();
      for (let i = 0; i < bytes.length; i += n) lean.push(bytes.slice(i, i + n));
      const got = new TextDecoder().decode(lean.end());
      if (got !== want) wrong.push(n + " bytes at a time, " + JSON.stringify(text) + ": " + JSON.stringify(got));
    }
  };
  const same = (text) => check(text, text);
  check('{"a": 1, "object_classification": {"x": [1, "}", {"x": [2]}], "y": {}}, "b": "object_classification"}', '{"a": 1, "object_classification": {}, "b": "object_classification"}');
  check('{\n"object_classification" :\n {\n"a": "\\"}\\\\",\n"b": {\n}\n},\n"tiles": []\n}', '{\n"object_classification" :\n {\n\n\n\n},\n"tiles": []\n}');
  check('{"\u00e9": {"a": 1}, "object_classification": {"\u00e9\\u007d": {}}, "z": "\u00e9"}', '{"\u00e9": {"a": 1}, "object_classification": {}, "z": "\u00e9"}');
  check('{"object_classification": {"a": 1', '{"object_classification": {');
  same('{"object_classification": {}}');
  same('{"object_classification": null, "x": {"a": 1}}');
  same('{"object_classification": [1], "x": {"a": 1}}');
  same('{"object_classifications": {"a": 1}, "object_classificatio": {"a": 1}, "object\\u005fclassification": {"a": 1}, "a\\"b": {"c": 1}}');
  same('{"x": "object_classification", "y": {"a": 1}, "tiles": [{"object_classification": {"a": 1}}]}');
  same('[{"object_classification": {"a": 1}}]');
  same('}}]]{"object_classification": {"a": 1}}');
  same('{"a": "');
  same('');
  return wrong;
})`

// TestBrowserLeavesOut: of a manifest the page leaves out what it does not look at.
func TestBrowserLeavesOut(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	b.show(t, s.url+"?shadows=-1&samples=1&cache=0")
	var wrong []string
	b.eval(t, leanManifest, &wrong)
	for _, text := range wrong {
		t.Error(text)
	}
}
