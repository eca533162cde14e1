package main

import (
	"encoding/json"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/manifest/scenelist"
	"github.com/untoldkit/untold/preview/render"
)

// TestBrowserAsksEarly: the page itself names what its program consists of, so that all of
// it is asked for before the first line runs, and the program once.
func TestBrowserAsksEarly(t *testing.T) {
	b, _, s := browserCity(t, 160, 120)
	all := []string{"viewer.wasm.gz", scenelist.Name, "wasm_exec.js", "untold-viewer.js", "viewer.js", "webgl.js", "files.js"}
	b.call(t, "Network.enable", nil, nil)
	b.call(t, "Network.setBlockedURLs", map[string]any{"urls": []string{"*/page.js"}}, nil) // nothing runs
	b.call(t, "Page.navigate", map[string]any{"url": s.url}, nil)
	names, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	b.eval(t, fmt.Sprintf(`new Promise((done) => {
		let left = 3000;
		const look = () => {
			const there = performance.getEntriesByType("resource").map((e) => e.name.replace(/^.*\//, "")), missing = %s.filter((n) => !there.includes(n));
			missing.length && left-- ? setTimeout(look, 100) : done(missing);
		};
		look();
	})`, names), &missing)
	if len(missing) != 0 {
		t.Errorf("without a program these are not asked for: %q", missing)
	}
	b.call(t, "Network.setBlockedURLs", map[string]any{"urls": []string{}}, nil)
	since := s.logged()
	b.open(t, s.url+"?shadows=-1&samples=1", 1)
	for _, name := range []string{"/viewer.wasm.gz", "scenes.json"} {
		if list, _ := s.asked(since, name); len(list) > 1 {
			t.Errorf("asked for more than once: %v", list)
		}
	}
}

// countUploads counts the bytes that WebGL is given for a frame and takes those of the
// worst one: what a frame does at most is what keeps it short, on any machine.
const countUploads = `globalThis.uploads = { most: 0, sum: 0, frames: 0 };
globalThis.longTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => longTasks.push([Math.round(e.startTime), Math.round(e.duration)]))).observe({ type: "longtask" });
{
  const proto = WebGL2RenderingContext.prototype;
  let now = 0;
  const size = { bufferSubData: (a) => a[4], texSubImage2D: (a) => 4 * a[4] * a[5], compressedTexSubImage2D: (a) => a[9] };
  for (const [name, bytes] of Object.entries(size)) {
    const real = proto[name];
    proto[name] = function (...args) {
      const n = bytes(args);
      if (Number.isFinite(n)) now += n;
      return real.apply(this, args);
    };
  }
  const frame = globalThis.requestAnimationFrame;
  globalThis.requestAnimationFrame = (f) => frame((at) => {
    uploads.most = Math.max(uploads.most, now);
    uploads.sum += now;
    uploads.frames++;
    now = 0;
    f(at);
  });
}`

// TestBrowserFrameWork: while a scene comes, no frame uploads more than its budget, 8 MiB,
// and what is drawn with.
func TestBrowserFrameWork(t *testing.T) {
	const budget, besides = 8 << 20, 4 << 20
	b, _, s := browserCity(t, 160, 120)
	b.before(t, countUploads)
	b.open(t, s.url+"?shadows=-1&samples=1&cache=0", 5)
	var got struct {
		Uploads struct{ Most, Sum, Frames float64 }
		Long    [][2]int
	}
	b.eval(t, `({ uploads, long: longTasks })`, &got)
	t.Logf("%.0f frames, %.2f MB uploaded, at most %.2f MB a frame; tasks of the page above 50 ms, their start and length: %v",
		got.Uploads.Frames, got.Uploads.Sum/1e6, got.Uploads.Most/1e6, got.Long)
	if got.Uploads.Frames == 0 || got.Uploads.Sum == 0 || got.Uploads.Most > budget+besides {
		t.Errorf("%+v", got.Uploads)
	}
	b.quiet(t)
}

// TestBrowserExamplePage: examples/page shows its scene, what it says and what its controls
// do, and fits a wide window and a phone.
func TestBrowserExamplePage(t *testing.T) {
	b := startBrowser(t, 1280, 800)
	text, err := os.ReadFile("../../examples/page/index.html")
	if err != nil {
		t.Fatal(err)
	}
	// Few pixels: the browser draws in software.
	page := strings.Replace(string(text), "<untold-viewer ", `<untold-viewer samples="1" shadows="-1" scale="0.25" `, 1)
	url := exported(t, map[string]string{"deep/index.html": page}) + "deep/"
	for _, c := range []struct {
		name          string
		width, height int
		scheme        string
	}{{"wide", 1280, 800, "light"}, {"phone", 375, 667, "dark"}} {
		b.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": c.width, "height": c.height, "deviceScaleFactor": 1, "mobile": c.width < 500}, nil)
		b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": c.scheme}}}, nil)
		if st := b.open(t, url, 2); st.Undrawn != 0 || st.Draws == 0 {
			t.Errorf("%s: %+v", c.name, st)
		}
		var got struct {
			Home, Bar    bool
			Figures      string
			Wide, Inner  int
			Left, Right  float64
			View, Ground string
		}
		b.eval(t, `(async () => {
			const by = (id) => document.getElementById(id), v = by("city");
			by("as").value = "lod";
			by("as").dispatchEvent(new Event("change"));
			await new Promise((done) => v.addEventListener("stats", done, { once: true }));
			const s = await new Promise((done) => v.addEventListener("stats", (e) => done(e.detail), { once: true }));
			by("as").value = "lit";
			by("as").dispatchEvent(new Event("change"));
			const r = v.getBoundingClientRect();
			return { home: !by("home").disabled, bar: !by("loading").hidden, figures: by("figures").textContent, view: s.view,
				wide: document.scrollingElement.scrollWidth, inner: innerWidth, left: r.left, right: r.right };
		})()`, &got)
		if !got.Home || got.Bar || got.Figures == "" || got.View != "lod" {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Wide > got.Inner || got.Left < 0 || got.Right > float64(got.Inner) {
			t.Errorf("%s: it does not fit: %+v", c.name, got)
		}
		b.frames(t, 2)
		writePicture(t, filepath.Join(t.ArtifactDir(), c.name+".png"), b.screen(t))
	}
	b.quiet(t)
}

// TestBrowserLegend: on a phone the legend of a view stands above the buttons.
func TestBrowserLegend(t *testing.T) {
	b, _, s := browserCity(t, 375, 667)
	b.open(t, s.url+"?shadows=-1&samples=1", 1)
	var top int
	b.eval(t, `(async () => {
		const v = document.querySelector("untold-viewer"), tools = v.shadowRoot.getElementById("tools");
		v.view = "lod";
		for (let n = 0; n < 3; n++) await new Promise((done) => v.addEventListener("stats", done, { once: true }));
		tools.style.visibility = "hidden";
		return Math.floor(tools.getBoundingClientRect().top);
	})()`, &top)
	b.frames(t, 1)
	img := b.screen(t)
	title, rows := color.RGBA{90, 170, 255, 255}, [2]int{} // of pixels of the legend's first line
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if color.RGBAModel.Convert(img.At(x, y)) == title {
				rows[min(1, y/top)]++
			}
		}
	}
	if rows[0] == 0 || rows[1] > 0 {
		t.Errorf("%d pixels of the legend above the buttons, which begin in row %d, and %d below", rows[0], top, rows[1])
	}
	writePicture(t, filepath.Join(t.ArtifactDir(), "legend.png"), img)
	b.quiet(t)
}

// TestBrowserKTX2: textures that were cooked as KTX2 look as in preview.
func TestBrowserKTX2(t *testing.T) {
	const width, height, pixelsPerDegree, most = 320, 240, 67, 0.03
	b := startBrowser(t, width, height)
	scene, _ := smallCity(t)
	dir := filepath.Join(t.TempDir(), "ktx2")
	if r := execute(t, nil, "cook", scene, "-o", dir, "--tile-size", "60", "--whole-limit", "0", "--textures", "ktx2", "-q"); r.code != 0 {
		t.Fatal(r.err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "tiles", "Textures", "*.ktx2"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no textures: %v, %v", files, err)
	}
	s := startServe(t, dir)
	want := native(t, filepath.Join(dir, "city.json"), nil, render.Options{ShadowSize: -1, Samples: 1}, width, height)
	since := s.logged()
	if st := b.open(t, s.url+"?shadows=-1&samples=1&cache=0", 3); st.Undrawn != 0 || st.Draws == 0 {
		t.Errorf("%+v", st)
	}
	if list, _ := s.asked(since, ".ktx2"); len(list) == 0 {
		t.Error("no texture was asked for")
	}
	got := b.picture(t)
	d, err := imagediff.FLIP(want, got, pixelsPerDegree)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("mean FLIP %.4f", d.Mean())
	if d.Mean() > most {
		keep := filepath.Join(t.ArtifactDir(), "ktx2.png")
		writePicture(t, keep, got)
		t.Errorf("mean FLIP %.4f beside the preview; picture: %s (-artifacts keeps it)", d.Mean(), keep)
	}
	b.quiet(t)
}
