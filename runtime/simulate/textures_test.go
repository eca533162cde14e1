package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

func TestParseTextures(t *testing.T) {
	const text = `{"scene": {"tiles": [
		{"tile_id": "a", "bounds": {"min": [0, 0, 0], "max": [9, 9, 9]}, "textures": ["x"],
		 "nodes": [{"name": "m", "bounds": {"min": [0, 1, 2], "max": [3, 4, 5]}, "gpu_bytes": 7, "textures": ["y", "z"]}],
		 "hlod_levels": [{"switch_distance": 300, "textures": ["z"]}],
		 "lod_levels": [{"switch_distance": 200, "textures": ["y"]}, {"switch_distance": 100}]}
	], "textures": {"x": 2048, "y": [100, 30], "z": {"size": 64, "format": "bc5", "note": "a normal map"}}},
	"latency": {"texture": 0.5}, "faults": [{"texture": "y", "kind": "fail", "times": 2}]}`
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]texfile.Size{"x": size(2048, 2048, texfile.RGBA8), "y": size(100, 30, texfile.RGBA8), "z": size(64, 64, texfile.BC5)}
	if diff := gocmp.Diff(sizes, s.Textures); diff != "" {
		t.Error(diff)
	}
	x := s.Tiles["a"]
	got := fmt.Sprint(x.Textures, x.Meshes[0].Textures, x.HLODTextures, x.LODTextures)
	if want := "[x] [y z] [z] [[] [y]]"; got != want { // LODs by distance
		t.Errorf("%s, want %s", got, want)
	}
	if s.Latency.Reps["texture"] != 500*time.Millisecond || s.Faults[0] != (Fault{Texture: "y", Times: 2}) {
		t.Errorf("%+v, %+v", s.Latency, s.Faults)
	}
}

func TestParseTexturesRefuses(t *testing.T) {
	for _, x := range []struct{ scene, top, want string }{
		{`"textures": {"a": 0}`, `"dt": 1`, "out of range"},
		{`"textures": {"a": 65537}`, `"dt": 1`, "out of range"},
		{`"textures": {"a": 1.5}`, `"dt": 1`, "whole number"},
		{`"textures": {"a": [1]}`, `"dt": 1`, "wants a width and a height, not 1"},
		{`"textures": {"a": {"format": "bc7"}}`, `"dt": 1`, `"size" is missing`},
		{`"textures": {"a": {"size": 4, "format": "bc1"}}`, `"dt": 1`, "use rgba8, bc7, bc5"},
		{`"textures": {"brick": 4}`, `"dt": 1`, `did you mean "brick"?`},
		{`"textures": 5`, `"dt": 1`, "wants an object"},
		{`"textures": {"brik": 4}`, `"faults": [{"kind": "fail"}]`, `"tile" is missing`},
		{`"textures": {"brik": 4}`, `"faults": [{"texture": "brik", "kind": "hang"}]`, "can only fail"},
		{`"textures": {"brik": 4}`, `"faults": [{"texture": "b", "kind": "fail"}]`, `no texture "b"`},
		{`"textures": {"brik": 4}`, `"expect": [{"t": 0, "event": "tex.load", "texture": "b"}]`, `no texture "b"`},
		{`"textures": {"brik": 4}`, `"expect_stats": [{"t": 0, "counter": "textureLoad", "value": 1}]`, `did you mean "textureLoads"?`},
	} {
		_, err := Parse([]byte(`{"scene": {"tiles": [{"tile_id": "t", "bounds": {"min": [0,0,0], "max": [1,1,1]}, "textures": ["brik"]}], ` + x.scene + `}, ` + x.top + `}`))
		if e := new(SyntaxError); !errors.As(err, &e) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s, %s: %v, want %q", x.scene, x.top, err, x.want)
		}
	}
}

// texturedScene writes a cooked scene of one tile with an HLOD, whose material
// names an image of 600 x 300 texels.
func texturedScene(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewNRGBA(image.Rect(0, 0, 600, 300))); err != nil {
		t.Fatal(err)
	}
	write("tiles/Textures/wall.png", picture.Bytes())
	for name, typ := range map[string]format.FileType{"a": format.FileTile, "h": format.FileHLOD} {
		b := format.NewBuilder(typ)
		none := records.Material{
			BaseColorTexture: b.AddTexture("wall", "Textures/wall.png", records.Texture{}), NormalTexture: b.AddTexture("lost", "Textures/lost.png", records.Texture{}),
			MetallicTexture: records.NoIndex, RoughnessTexture: records.NoIndex, EmissiveTexture: records.NoIndex, OcclusionTexture: records.NoIndex, HeightTexture: records.NoIndex,
		}
		corner := func(x, y float32) vertex.Vertex { return vertex.Vertex{Position: [3]float32{x, y, 0}} }
		err := b.AddObject(format.Object{
			Name: "wall", MeshName: "m", Material: b.AddMaterial("m", none), Indices: []uint32{0, 1, 2},
			Vertices: vertex.Append(nil, []vertex.Vertex{corner(0, 0), corner(10, 0), corner(0, 10)}),
		})
		if err != nil {
			t.Fatal(err)
		}
		data, err := b.File().Encode(format.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		write("tiles/"+name+".untold", data)
	}
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 30, UnloadRadius: 50},
		Tiles: []manifest.Tile{{
			ID: "a", Path: "tiles/a.untold", FileSizeBytes: 1000, Bounds: manifest.Bounds{Max: [3]float64{10, 10, 0}},
			HLODLevels: []manifest.Level{{Path: "tiles/h.untold", SwitchDistance: 49}},
		}},
	}
	path = filepath.Join(dir, "scene.json")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The textures of a cooked scene have the sizes of its files: those of the HLOD
// stay small, those of the full geometry become as large as they are.
func TestCookedSceneStreamsTextures(t *testing.T) {
	s := load(t, texturedScene(t))
	s.Duration = 20 * time.Second
	s.Path.Keys = []CameraKey{
		{Position: [3]float64{5, 5, 80}, Forward: [3]float64{0, 0, -1}},
		{T: 5 * time.Second, Position: [3]float64{5, 5, 10}, Forward: [3]float64{0, 0, -1}},
		{T: 10 * time.Second, Position: [3]float64{5, 5, 80}, Forward: [3]float64{0, 0, -1}},
	}
	r := mustRun(t, s, Options{Series: true})
	var got []string
	for i := range r.Records {
		if rec := &r.Records[i]; strings.HasPrefix(rec.Event, "tex.") {
			text, _, _ := strings.Cut(rec.String(), " error=")
			got = append(got, text)
		}
	}
	want := []string{
		"tex.start texture=Textures/wall.png to=256", "tex.start texture=Textures/lost.png to=256",
		"tex.load texture=Textures/wall.png to=150", "tex.missing texture=Textures/lost.png to=256",
		"tex.start texture=Textures/wall.png to=600", "tex.upgrade texture=Textures/wall.png to=600",
		"tex.downgrade texture=Textures/wall.png to=150",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	p := r.Report
	if p.TextureLoads != 1 || p.TextureUpgrades != 1 || p.TextureDowngrades != 1 || p.TextureFailures != 1 || p.TexturesMissing != 1 {
		t.Errorf("%+v", p)
	}
	chain := func(edge int) int64 { return size(600, 300, texfile.RGBA8).Blank(texfile.Color, edge).Bytes() }
	if p.PeakTextureBytes != chain(600) || p.TextureBytesLoaded != chain(256)+chain(600) || p.PeakTextureReserved == 0 {
		t.Errorf("%+v, want %d and %d", p, chain(600), chain(256)+chain(600))
	}
	var plot bytes.Buffer
	if err := WritePlot(&plot, r.Series); err != nil || !strings.Contains(plot.String(), "textures in use") {
		t.Errorf("no textures in the plot: %v", err)
	}
}

// What is written while an update is under way has the order in which it
// happened, and an error of the writer ends the run.
func TestRecordsOfTextures(t *testing.T) {
	s := load(t, filepath.Join(scenarios, "h03.json"))
	var at, shed int
	n, stop := 0, errors.New("enough")
	_, err := Run(t.Context(), s, Options{OnRecord: func(r *Record) error {
		n++
		switch {
		case r.Event == "evict.shed" && shed == 0:
			shed = n
		case r.Event == "tex.downgrade":
			if at++; at == 5 {
				return stop
			}
		}
		return nil
	}})
	if !errors.Is(err, stop) {
		t.Errorf("%v, want the error of the writer", err)
	}
	if shed == 0 || at != 5 {
		t.Errorf("shed is record %d, after %d downgrades", shed, at)
	}
}

// A texture that takes longer than meshLoadTimeoutSeconds is given up, and tried
// again; 0 gives it no time at all, and inf all of it.
func TestTexturesTimeOut(t *testing.T) {
	const text = `{"scene": {"tiles": [{"tile_id": "a", "bounds": {"min": [-5, -5, -9], "max": [5, 5, -8]}, "textures": ["x"]}],
		"streaming_defaults": {"streaming_radius": 200, "unload_radius": 300}, "textures": {"x": 64}},
		"config": {"meshLoadTimeoutSeconds": %s}, "latency": {"texture": 70}, "dt": 0.5, "duration": 80,
		"camera": [{"t": 0, "position": [0, 0, 0], "forward": [0, 0, -1]}]}`
	for limit, want := range map[string]time.Duration{"0": 500 * time.Millisecond, "3.25": 3500 * time.Millisecond, "60": 60500 * time.Millisecond, `"inf"`: 0} {
		s, err := Parse(fmt.Appendf(nil, text, limit))
		if err != nil {
			t.Fatal(err)
		}
		r := mustRun(t, s, Options{})
		var start, missing time.Duration
		loads := 0
		for _, x := range slices.Backward(r.Records) {
			switch x.Event {
			case "tex.start":
				start = x.T
			case "tex.missing":
				missing = x.T
				if e, _ := x.value("error"); !strings.Contains(fmt.Sprint(e), texture.ErrTimeout.Error()) {
					t.Errorf("%s: %v", limit, e)
				}
			case "tex.load":
				loads++
			}
		}
		if want == 0 && (loads != 1 || missing != 0) || want != 0 && (loads != 0 || missing-start != want) {
			t.Errorf("%s: started at %v, missing at %v, %d loads", limit, start, missing, loads)
		}
	}
}

// folder is a Fetcher that has everything at once.
type folder string

func (dir folder) Fetch(req payload.Request) {
	file := filepath.Join(string(dir), filepath.FromSlash(req.Path))
	req.Done.Fetched(req.Token, payload.Fetched{File: file, Dir: filepath.Dir(file)}, nil)
}

// Textures of a scene at an address follow their payloads. While they have not
// come they are no failures, as often as they are asked for; those that cannot be
// read are. What has not come at the end is missing.
func TestTexturesThatFollow(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		scene := texturedScene(t)
		picture := filepath.Join(filepath.Dir(scene), "tiles", "Textures", "wall.png")
		data, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(picture); err != nil {
			t.Fatal(err)
		}
		if damaged {
			data = data[:20]
		}
		s := load(t, scene)
		s.Duration = 20 * time.Second
		s.Path.Keys = []CameraKey{{Position: [3]float64{5, 5, 10}, Forward: [3]float64{0, 0, -1}}}
		missing := 0
		follow := func(r *Record) error {
			if name, _ := r.value("texture"); r.Event != "tex.missing" || name != "Textures/wall.png" {
				return nil
			}
			if missing++; missing < 5 {
				return nil
			}
			return os.WriteFile(picture, data, 0o600)
		}
		wall := &fakeWall{now: time.Unix(1_000_000, 0)}
		p := mustRun(t, s, Options{Fetcher: folder(filepath.Dir(scene)), OnRecord: follow, wall: wall}).Report
		if damaged && (missing < 6 || p.TextureFailures != missing-5 || p.TexturesMissing != 2) {
			t.Errorf("damaged: %d events, %+v", missing, p)
		}
		if !damaged && (missing != 5 || p.TextureFailures != 0 || p.TexturesMissing != 1 || p.TexturesFull != 1) {
			t.Errorf("%d events, %+v", missing, p)
		}
	}
}

// utexScene is texturedScene with a cooked texture of 1024 x 1024 texels in BC7.
func utexScene(t *testing.T) (path string) {
	t.Helper()
	path = texturedScene(t)
	var b bytes.Buffer
	w, err := utex.NewWriter(&b, 1024, 1024, utex.BC7, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range w.Info().Levels {
		if err := w.WriteLevel(make([]byte, l.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Whoever reads it goes by its content.
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "tiles", "Textures", "wall.png"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Over a modelled network a texture takes the bytes of the levels that it lacks, and the
// time of these.
func TestTexturesOverANetwork(t *testing.T) {
	info := utex.NewInfo(1024, 1024, utex.BC7, 0)
	head := info.Prefix(len(info.Levels))
	for _, c := range []struct {
		distance float64
		want     int64
	}{{80, head + info.Bytes(2)}, {5, head + info.Bytes(0)}} {
		s := load(t, utexScene(t))
		s.Duration = 30 * time.Second
		s.Path.Keys = []CameraKey{{Position: [3]float64{5, 5, c.distance}, Forward: [3]float64{0, 0, -1}}}
		r := mustRun(t, s, Options{Bandwidth: 1e6, NetworkLatency: 50 * time.Millisecond})
		if r.Report.TextureBytesRead != c.want || r.Report.TextureLoads != 1 {
			t.Errorf("at %v m: %d bytes, want %d; %+v", c.distance, r.Report.TextureBytesRead, c.want, r.Report)
		}
		var start, last time.Duration
		for i := range r.Records {
			switch rec := &r.Records[i]; rec.Event {
			case "tex.start":
				start = cmp.Or(start, rec.T)
			case "tex.load", "tex.upgrade":
				last = rec.T
			}
		}
		if took := (last - start).Seconds(); took < float64(c.want)/1e6 {
			t.Errorf("at %v m: %v s", c.distance, took)
		}
	}
	// Without a network each byte counts once all the same.
	s := load(t, utexScene(t))
	s.Duration = 10 * time.Second
	s.Path.Keys = []CameraKey{{Position: [3]float64{5, 5, 5}, Forward: [3]float64{0, 0, -1}}}
	if got := mustRun(t, s, Options{}).Report.TextureBytesRead; got != head+info.Bytes(0) {
		t.Errorf("%d bytes", got)
	}
}

// slowSource opens the textures of a folder, some time after they were asked for.
type slowSource struct {
	gate  chan struct{}
	asked atomic.Int32
}

func (s *slowSource) OpenTexture(ctx context.Context, dir, uri string, maxSize int) (texfile.File, bool, error) {
	s.asked.Add(1)
	select {
	case <-s.gate:
	case <-ctx.Done():
		return nil, true, ctx.Err()
	}
	f, err := texfile.OpenFile(ctx, dir, uri, maxSize, nil)
	return f, true, err
}

// Textures of a Source come when it has them, and what it does not have is missing.
func TestTexturesOfASource(t *testing.T) {
	scene := texturedScene(t)
	s := load(t, scene)
	s.Duration = 10 * time.Second
	s.Path.Keys = []CameraKey{{Position: [3]float64{5, 5, 10}, Forward: [3]float64{0, 0, -1}}}
	src := &slowSource{gate: make(chan struct{})}
	opened := false
	early := func(r *Record) error {
		if r.Event == "tex.load" && !opened {
			t.Error("a texture came before its file")
		}
		return nil
	}
	// While a file is on its way a frame takes its time, so that this ends in time.
	progress := func(done, _ int) {
		if done > 0 && !opened && src.asked.Load() > 0 {
			opened = true
			close(src.gate)
		}
	}
	p := mustRun(t, s, Options{Fetcher: folder(filepath.Dir(scene)), TextureSource: src, OnRecord: early, Progress: progress}).Report
	if !opened || p.TextureLoads != 1 || p.TexturesFull != 1 || p.TexturesMissing != 1 || p.TextureFailures != 0 || p.TextureBytesRead == 0 {
		t.Errorf("%t, %+v", opened, p)
	}
}

// Sizes of textures are chosen for the picture that errors of levels are measured in, or for
// the one that is drawn where that is higher.
func TestTexturesFollowThePicture(t *testing.T) {
	for _, c := range []struct {
		height float64
		drawn  int
		want   float64
	}{{1080, 0, 1080}, {540, 0, 540}, {540, 400, 540}, {540, 720, 720}} {
		w := &model{s: &Scenario{}}
		w.s.Config.PictureHeight = c.height
		if c.drawn > 0 {
			w.draw = &Drawing{Lines: c.drawn}
		}
		got := (&textureTier{w: w}).view(runtime.Camera{FovYDegrees: 40}).Pixel
		if want := texture.PixelSize(40, c.want); got != want {
			t.Errorf("%v lines, drawn with %d: a pixel is %v, want %v", c.height, c.drawn, got, want)
		}
	}
}
