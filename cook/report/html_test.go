package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/manifest"
)

// hostile are names that a file may hold.
var hostile = []string{
	`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `javascript:alert(1)`,
	"\u202eexe.glb", "nul\x00l", "bad \xff utf", `]]><!--`, `{{.Title}}`, `</style><style>*{display:none}`, `&lt;b&gt;`,
}

// full has something of everything, with a hostile name in every place.
func full(t *testing.T, name string) *Report {
	t.Helper()
	m := floorManifest()
	m.SourceSceneName, m.Generator, m.PartitioningMode = &name, name, manifest.ModeQuadtreeFloor
	m.FailedTiles = []manifest.FailedTile{{ID: name, Error: name, CandidateObjectCount: 1}}
	for i := range m.Tiles {
		m.Tiles[i].ID += name
	}
	m.Tiles[0].SemanticTier = name
	m.StreamingProfile = &manifest.Profile{Requested: name, Resolved: name}
	r := New(m, nil, nil)
	r.Objects = []Object{
		{Name: name, Place: PlaceTiles, Tiles: []string{name}, TileCount: 3, Reasons: []string{name}, Tier: name, TierSource: name, Floor: pointer(0)},
		{Name: name, Place: PlaceShared, Export: name, Reasons: []string{name}},
		{Name: name, Place: PlaceNone},
	}
	r.Options, r.Notes = []KV{{name, name}}, []Note{{name, 1, name, name, true}, {"b", 1, "b", "", false}}
	r.Dropped = []DroppedLevel{{name, "lod1", StageBands, name}, {"", "hlod", name, name}, {"x", "lod1", StageBands, name}}
	r.Compat = &Compat{Ours: Side{Tiles: 5}, Engine: Side{Tiles: 3, Duplicated: 2000}}
	r.Floors.Method, r.Floors.BandHeight = "slabs", 3
	r.Floors.Slabs = []SlabLevel{{0, 100, 1}, {3, 90, 2}}
	r.Totals.Textures = 3
	half := 0.5
	r.Budgets = []budget.Verdict{{Figure: name, FailIf: name, Unit: budget.Bytes, Value: 100e3, Limit: 200e3, Used: &half}, {Figure: "warnings", FailIf: "warnings>0", Unit: budget.Count, Value: 3, Failed: true}}
	return r
}

func htmlOf(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTMLBudgets(t *testing.T) {
	page := htmlOf(t, full(t, "plain"))
	for _, want := range []string{"Budgets", "100.0 kB", "50 %", "kept", "warnings&gt;0", "failed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	r := full(t, "plain")
	if r.Budgets = nil; strings.Contains(htmlOf(t, r), `id="budgets"`) {
		t.Error("a section of no budgets")
	}
}

func TestHTMLEscapes(t *testing.T) {
	clean := htmlOf(t, full(t, "plain"))
	tag := regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)
	count := len(tag.FindAllString(clean, -1))
	for _, name := range hostile {
		page := htmlOf(t, full(t, name))
		wellFormed(t, []byte(page), false)
		if strings.Count(page, "<script>") != 1 || strings.Count(page, "</script>") != 1 || strings.Count(page, "<style>") != 1 {
			t.Errorf("%q made a script or style", name)
		}
		// Names may only be text: the tags are the same.
		if n := len(tag.FindAllString(page, -1)); n != count && !strings.Contains(name, "utf") {
			t.Errorf("%q: %d tags, not %d", name, n, count)
		}
		for _, s := range []string{"<img", "\x00", "\u202e", "onerror=alert(1)>", "onmouseover='"} {
			if strings.Contains(page, s) {
				t.Errorf("%q: the page holds %q", name, s)
			}
		}
	}
}

// TestHTMLStandsAlone: the page refers to nothing outside of itself.
func TestHTMLStandsAlone(t *testing.T) {
	page := htmlOf(t, full(t, "plain"))
	for _, m := range regexp.MustCompile(`(?i)(src|href|action|data)=("[^"]*"|[^ >]*)`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[2], `"#`) {
			t.Errorf("the page refers to %s", m[0])
		}
	}
	rest := strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")
	for _, s := range []string{"http:", "https:", "@import", "url("} {
		if strings.Contains(rest, s) {
			t.Errorf("the page holds %s", s)
		}
	}
	if !strings.Contains(page, "script-src &#39;sha256-") || !strings.Contains(page, "prefers-color-scheme: dark") {
		t.Error("policy or dark style missing")
	}
	for _, id := range regexp.MustCompile(`href="#([a-z]+)"`).FindAllStringSubmatch(page, -1) {
		if strings.Count(page, `id="`+id[1]+`"`) != 1 {
			t.Errorf("link to #%s", id[1])
		}
	}
	if again := htmlOf(t, full(t, "plain")); page != again {
		t.Error("a second page differs")
	}
}

func TestHTMLContent(t *testing.T) {
	page := htmlOf(t, full(t, "plain"))
	for _, s := range []string{
		"lod2 from 18 m, 100 triangles, 3.2 kB", "error 0.01 m", "found by the heights at which slabs lie. A floor is 3 m high.",
		"no room between the distances", "&#43;2", "-2,000", "Semantic tiers", "Failed tiles", "infinite", "nowhere",
		"plain and 2 more", "Slab levels", "all tiles",
	} {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	dry := full(t, "plain")
	dry.DryRun, dry.Totals.TileBytes = true, 0
	if page := htmlOf(t, dry); !strings.Contains(page, "planned") || !strings.Contains(page, "dry run") {
		t.Error("a dry run is not told")
	}
	empty := htmlOf(t, New(&manifest.Manifest{}, nil, nil))
	wellFormed(t, []byte(empty), false)
	if strings.Contains(empty, "<h2>") {
		t.Error("an empty report has sections")
	}
	wellFormed(t, []byte(htmlOf(t, &Report{})), false)
}

func TestWithoutNumbers(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2 levels need 8 m, there are 6.25", "# levels need # m, there are #"},
		{"its 40 triangles of lod2 (40 of 48), error 2.98e-08 m;", "its # triangles of lod2 (# of #), error # m;"},
		{"", ""},
		{"NaN and Inf", "# and #"},
	} {
		if got := withoutNumbers(c.in); got != c.want {
			t.Errorf("%q: %q", c.in, got)
		}
	}
	r := &Report{Dropped: []DroppedLevel{
		{"a", "lod2", StageGeometry, "keeps 11 of 108"},
		{"b", "lod2", StageGeometry, "keeps 5 of 48"},
		{"b", "hlod", StageGeometry, "keeps 5 of 48"},
		{"c", "lod2", StageBands, "keeps 5 of 48"},
	}}
	if rows := r.levelSection().Tables[0].Rows; len(rows) != 3 || rows[0][2].Text != "2" || rows[0][4].Text != "keeps 11 of 108" {
		t.Errorf("%+v", rows)
	}
}

// TestHTMLCaps: a large scene gives a page that a browser can show.
func TestHTMLCaps(t *testing.T) {
	m := gridManifest(150, 150)
	r := New(m, nil, nil)
	for i := range 100_000 {
		r.Objects = append(r.Objects, Object{Name: fmt.Sprint("object ", i), Place: PlaceTiles, TileCount: 1, Tiles: []string{"tile_0_0_0"}, Triangles: i})
	}
	page := htmlOf(t, r)
	for _, s := range []string{"1,000 of 100,000 rows", "1,000 of 22,500 rows", "22,500 tiles are too many to draw here", "object 99999<"} {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	if strings.Contains(page, "object 5<") || len(page) > 1<<20 {
		t.Errorf("the page is %d bytes long", len(page))
	}
	r = New(gridManifest(80, 80), nil, nil)
	if page := htmlOf(t, r); strings.Count(page, "<details") != 1 {
		t.Error("6,400 tiles are drawn twice")
	}
}

// fullDisk fails after some bytes.
type fullDisk struct{ left int }

func (w *fullDisk) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	r := full(t, "plain")
	p, err := NewMap(r.Manifest, MapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer) error{
		"json": r.WriteJSON, "html": r.WriteHTML, "svg": p.WriteSVG, "png": p.WritePNG,
	} {
		if err := write(&fullDisk{100}); err == nil {
			t.Errorf("%s: a full disk is no error", name)
		}
	}
}
