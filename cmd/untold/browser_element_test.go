package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// strictPolicy is what a page with the element needs of a policy that allows nothing.
const strictPolicy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'">`

// exported writes a city for web servers and starts one, of the standard library, below
// whose root it lies in sub.
func exported(t *testing.T, pages map[string]string) (url string) {
	t.Helper()
	_, dir := smallCity(t)
	base := t.TempDir()
	if r := execute(t, nil, "export", dir, "--format", "web", "-o", filepath.Join(base, "deep", "site"), "-q"); r.code != 0 {
		t.Fatal(r.err)
	}
	for name, text := range pages {
		testfile.Write(t, filepath.Join(base, name), text)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(base)))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// failure is a promise of the page: what the element says once it has failed.
const failure = `new Promise((done) => { const v = document.querySelector("untold-viewer"); const look = () => v.state === "failed" ? done(v.shadowRoot.getElementById("failure").innerText) : setTimeout(look, 50); look(); })`

// TestBrowserExport: what export writes shows its scene from a plain web server, below
// any path, and its page meets its own policy.
func TestBrowserExport(t *testing.T) {
	b := startBrowser(t, 320, 240)
	url := exported(t, nil)
	if s := b.open(t, url+"deep/site/?shadows=-1&samples=1&scale=0.3", 1); s.Undrawn != 0 || s.Draws == 0 {
		t.Errorf("%+v", s)
	}
	b.quiet(t)
	// The manifest came as gzip, from a server that compresses nothing; where its copy is not
	// to be had it is fetched as it is.
	const manifests = `[...new Set(performance.getEntriesByType("resource").map((e) => e.name).filter((n) => /\/(city\.json|[0-9a-f]+\.json\.gz)$/.test(n)).map((n) => n.replace(/^.*\./, "")))].join()`
	var asked string
	if b.eval(t, manifests, &asked); asked != "gz" {
		t.Errorf("of the manifest %q is asked for", asked)
	}
	b.call(t, "Network.enable", nil, nil)
	b.call(t, "Network.setBlockedURLs", map[string]any{"urls": []string{"*.json.gz"}}, nil)
	if s := b.open(t, url+"deep/site/?shadows=-1&samples=1&scale=0.3", 1); s.Undrawn != 0 || s.Draws == 0 {
		t.Errorf("without the copy: %+v", s)
	}
	if b.eval(t, manifests, &asked); asked != "gz,json" {
		t.Errorf("without the copy %q is asked for", asked)
	}
	b.call(t, "Network.setBlockedURLs", map[string]any{"urls": []string{}}, nil)
	var title string
	if b.eval(t, "document.title", &title); title != "city" {
		t.Errorf("the title is %q", title)
	}
	// A link copies the camera into the address, which is where the page starts then.
	var hash string
	b.eval(t, `document.getElementById("link").click(), new Promise((done) => setTimeout(() => done(location.hash), 100))`, &hash)
	if !regexp.MustCompile(`^#camera=(-?[0-9.]+,){6}[0-9.]+$`).MatchString(hash) {
		t.Errorf("the link is %q", hash)
	}
	// What is not there is told.
	b.show(t, url+"deep/site/?scene=none.json")
	var text string
	b.eval(t, failure, &text)
	if !strings.Contains(text, "none.json") {
		t.Errorf("%q", text)
	}
	// The link to it is copied all the same.
	if b.eval(t, `document.getElementById("link").click(), new Promise((done) => setTimeout(() => done(document.querySelector("untold-viewer").shadowRoot.getElementById("hint").innerText + location.hash), 100))`, &text); !strings.HasPrefix(text, "The link") || strings.Contains(text, "#") {
		t.Errorf("the link of what is not there says %q", text)
	}
	b.show(t, url+"deep/site/?scene=../../other.json")
	b.eval(t, failure, &text)
	if !strings.Contains(text, "no such scene") {
		t.Errorf("%q", text)
	}
}

// elementPage is a page of somebody else: its policy allows no style and no other server.
const elementPage = `<!DOCTYPE html><html><head><meta charset="utf-8">` + strictPolicy + `
<script type="module" src="deep/site/untold-viewer.js"></script><script src="watch.js"></script></head>
<body><h1>Somebody's page</h1><button>theirs</button>
<untold-viewer src="deep/site/city.json" controls hud theme="light" view="lod" shadows="-1" samples="1" scale="0.2"></untold-viewer></body></html>`

const elementWatch = `globalThis.seen = []; globalThis.memories = [];
document.addEventListener("securitypolicyviolation", (e) => seen.push("violation " + e.violatedDirective + " " + e.blockedURI));
document.addEventListener("DOMContentLoaded", () => { const v = document.querySelector("untold-viewer");
for (const name of ["progress", "ready", "error"]) v.addEventListener(name, (e) => seen.at(-1) === name + (e.detail.stage || "") || seen.push(name + (e.detail.stage || ""))); });
const old = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => { const i = await old(...args); memories.push(new WeakRef(i.exports.mem)); return i; };
`

// TestBrowserElement: the element in a page of others, with a strict policy: events, the
// camera, views, another scene, and an end after which nothing is left.
func TestBrowserElement(t *testing.T) {
	b := startBrowser(t, 400, 400)
	url := exported(t, map[string]string{"index.html": elementPage, "watch.js": elementWatch})
	first := b.open(t, url, 1)
	var seen []string
	b.eval(t, "seen", &seen)
	if i := slices.Index(seen, "ready"); i < 1 || seen[0] != "progressviewer" || slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, "violation") || s == "error" }) {
		t.Errorf("%q", seen)
	}
	var got struct {
		Arrived, Unknown, Same, Theirs bool
		View, State, Border            string
		Camera                         struct{ Position, Forward [3]float64 }
	}
	b.eval(t, `(async () => {
		const v = document.querySelector("untold-viewer"), c = v.camera;
		c.position[1] += 5;
		const arrived = await v.flyTo(c, { seconds: 0.3 });
		let unknown = false;
		await v.flyTo("nobody's").catch((e) => (unknown = e instanceof RangeError));
		await new Promise((done) => v.addEventListener("stats", done, { once: true }));
		const s = await new Promise((done) => v.addEventListener("stats", (e) => done(e.detail), { once: true }));
		return { arrived, unknown, view: s.view, state: v.state, camera: v.camera, theirs: document.querySelectorAll("canvas").length === 0,
			border: getComputedStyle(document.querySelector("body > button")).borderRadius };
	})()`, &got)
	if !got.Arrived || !got.Unknown || got.View != "lod" || got.Camera.Position[1] < first.Position[1]+4.99 || !got.Theirs || got.Border != "0px" && got.Border != "" {
		t.Errorf("%+v, from %v", got, first.Position)
	}
	// What is no address, a manifest that is not there, and back.
	var state string
	b.eval(t, `new Promise((done) => { const v = document.querySelector("untold-viewer"); v.addEventListener("error", () => done(v.state), { once: true }); v.src = "http://["; })`, &state)
	if state != "failed" {
		t.Errorf("with what is no address the state is %q", state)
	}
	b.eval(t, `new Promise((done) => { const v = document.querySelector("untold-viewer"); v.addEventListener("error", () => done(1), { once: true }); v.src = "deep/site/none.json"; })`, nil)
	b.eval(t, `document.querySelector("untold-viewer").setAttribute("src", "deep/site/city.json")`, nil)
	b.settle(t, 1)
	// Moved, it goes on; taken out, it ends, and the memory of all programs is free.
	var frames int
	b.eval(t, `(async () => {
		const v = document.querySelector("untold-viewer"), n = memories.length;
		document.body.prepend(v);
		await new Promise((done) => v.addEventListener("stats", done, { once: true }));
		return memories.length - n;
	})()`, &frames)
	if frames != 0 {
		t.Errorf("%d programs were started for a move", frames)
	}
	b.eval(t, `document.querySelector("untold-viewer").remove(), new Promise((done) => setTimeout(() => done(1), 1500))`, nil)
	b.call(t, "HeapProfiler.enable", nil, nil)
	left := 99
	for range 400 {
		b.call(t, "HeapProfiler.collectGarbage", nil, nil)
		if b.eval(t, `new Promise((done) => setTimeout(() => done(memories.filter((m) => m.deref()).length), 300))`, &left); left == 0 {
			break
		}
	}
	if left != 0 {
		t.Errorf("the memory of %d programs is left", left)
	}
	b.quiet(t)
}

// TestBrowserDocsExample: the page of the documentation shows a scene.
func TestBrowserDocsExample(t *testing.T) {
	b := startBrowser(t, 200, 200)
	text, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```html\n(<!DOCTYPE html>.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("docs/web.md has no page")
	}
	page := strings.ReplaceAll(string(m[1]), "https://scenes.example.com/city/", "deep/site/")
	url := exported(t, map[string]string{"index.html": page})
	if s := b.open(t, url, 1); s.Undrawn != 0 || s.Draws == 0 {
		t.Errorf("%+v", s)
	}
	b.quiet(t)
}

// TestBrowserInput: fingers look around and zoom, keys reach all that there is.
func TestBrowserInput(t *testing.T) {
	b, _, s := browserCity(t, 375, 667)
	b.call(t, "Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true, "maxTouchPoints": 2}, nil)
	before := b.open(t, s.url+"?shadows=-1&samples=1&scale=0.2", 1)
	touch := func(kind string, points ...[2]int) {
		list := []map[string]any{}
		for i, p := range points {
			list = append(list, map[string]any{"x": p[0], "y": p[1], "id": i})
		}
		b.call(t, "Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": list}, nil)
	}
	drag := func(from, to [][2]int) webStatus {
		touch("touchStart", from...)
		b.frames(t, 3)
		for i := range 4 {
			var at [][2]int
			for k := range from {
				at = append(at, [2]int{from[k][0] + (to[k][0]-from[k][0])*(i+1)/4, from[k][1] + (to[k][1]-from[k][1])*(i+1)/4})
			}
			touch("touchMove", at...)
		}
		b.frames(t, 3)
		touch("touchEnd")
		return b.settle(t, 1)
	}
	looked := drag([][2]int{{200, 200}}, [][2]int{{260, 230}})
	if looked.Forward == before.Forward {
		t.Error("a finger does not look around")
	}
	if zoomed := drag([][2]int{{150, 200}, {220, 200}}, [][2]int{{100, 200}, {280, 200}}); zoomed.Position == looked.Position {
		t.Error("two fingers do not zoom")
	}
	// Tab goes through the tools and leaves the viewer; H opens the keys, Escape closes them.
	var reached []string
	b.eval(t, `document.querySelector("untold-viewer").focus()`, nil)
	for range 24 {
		for _, kind := range []string{"rawKeyDown", "keyUp"} {
			b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": kind, "code": "Tab", "key": "Tab", "windowsVirtualKeyCode": 9}, nil)
		}
		var name string
		b.eval(t, `(() => { const v = document.activeElement, e = v && v.shadowRoot && v.shadowRoot.activeElement || v; return e.id || e.title || e.ariaLabel || e.tagName; })()`, &name)
		reached = append(reached, name)
	}
	for _, want := range []string{"link", "views", "show-help", "Show the whole scene (F)"} {
		if !slices.Contains(reached, want) {
			t.Errorf("Tab does not reach %s: %q", want, reached)
		}
	}
	b.eval(t, `document.querySelector("untold-viewer").focus()`, nil)
	b.key(t, "KeyH", "h", 0)
	var open bool
	const isOpen = `document.querySelector("untold-viewer").shadowRoot.getElementById("help").open`
	if b.eval(t, isOpen, &open); !open {
		t.Error("H does not show the keys")
	}
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": kind, "code": "Escape", "key": "Escape", "windowsVirtualKeyCode": 27}, nil)
	}
	if b.eval(t, isOpen, &open); open {
		t.Error("Escape does not close them")
	}
	b.quiet(t)
}
