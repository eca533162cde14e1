package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/untoldkit/untold/cook/publish"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote"
)

// glbText is the JSON of a GLB file, between its header and the rest.
func glbText(data []byte) (from, to int) {
	n := int(data[12]) | int(data[13])<<8 | int(data[14])<<16 | int(data[15])<<24
	return 20, 20 + n
}

// moveOne moves one node of a GLB by a few centimetres, which changes a digit.
func moveOne(t *testing.T, scene string) {
	t.Helper()
	data := testfile.Read(t, scene)
	from, to := glbText(data)
	at := regexp.MustCompile(`"translation":\[-?[0-9]+\.[0-9]*([0-9])[,\]]`).FindAllSubmatchIndex(data[from:to], -1)
	if len(at) == 0 {
		t.Fatal("no node has a place with decimals")
	}
	i := from + at[len(at)/2][2]
	data[i] = '0' + (data[i]-'0'+5)%10
	testfile.Write(t, scene, data)
}

// publishing runs untold publish --json.
func publishing(t *testing.T, env []string, args ...string) publish.Report {
	t.Helper()
	r := execute(t, env, append([]string{"publish", "--json"}, args...)...)
	var report publish.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); r.code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s%s", r.code, err, r.stdout, r.err)
	}
	return report
}

// validated judges a published scene, which must have neither errors nor warnings.
func validated(t *testing.T, at string) {
	t.Helper()
	if r := execute(t, nil, "validate", at, "--strict"); r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
}

// publishTwice publishes a city, edits it and publishes again, and reads it where
// readers find it.
func publishTwice(t *testing.T, env []string, address, readAt string) {
	t.Helper()
	scene, dir := smallCity(t)
	dry := publishing(t, env, dir, address, "--dry-run")
	first := publishing(t, env, dir, address)
	if len(dry.Sent) != len(first.Sent) || len(first.Sent) != first.Files || first.Files < 20 || first.Version != 1 {
		t.Errorf("%d, then %d of %d files were sent", len(dry.Sent), len(first.Sent), first.Files)
	}
	validated(t, readAt)
	moveOne(t, scene)
	cookCity(t, scene, dir)
	second := publishing(t, env, dir, address, "--keep", "2", "--grace", "0")
	if second.Version != 2 || len(second.Sent) == 0 || len(second.Sent) > first.Files/4 || second.Removed != 0 {
		t.Errorf("version %d, %d of %d were sent, %d removed", second.Version, len(second.Sent), second.Files, second.Removed)
	}
	for _, s := range second.Sent {
		if !strings.HasSuffix(s.Key, ".untold") {
			t.Errorf("%s was sent, no texture has changed", s.Key)
		}
	}
	validated(t, readAt)
	if third := publishing(t, env, dir, address); third.Version != 2 || len(third.Sent) != 0 || third.Scenes[0].Changed {
		t.Errorf("%+v", third)
	}
	back := publishing(t, env, address, "--rollback", "1")
	if back.Version != 3 || !back.Scenes[0].Changed {
		t.Errorf("%+v", back)
	}
	validated(t, readAt)
	r := execute(t, env, "publish", address, "--rollback", "77")
	if r.code != exitWanting || !strings.Contains(r.err, "it has 1, 2, 3") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestPublishToFolder(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "place")
	publishTwice(t, nil, place, place)
}

// fakeBucket starts an S3 server in this process with the bucket "scenes", and returns
// it with the environment that leads there.
func fakeBucket(t *testing.T, around func(http.Handler) http.Handler) (url string, env []string) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("scenes"); err != nil {
		t.Fatal(err)
	}
	h := gofakes3.New(backend).Server()
	if around != nil {
		h = around(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL, []string{
		"AWS_ENDPOINT_URL=" + srv.URL, "AWS_ENDPOINT_URL_S3=", "AWS_REGION=us-east-1", "AWS_PROFILE=", "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret",
	}
}

func TestPublishToBucket(t *testing.T) {
	t.Parallel()
	url, env := fakeBucket(t, nil)
	publishTwice(t, env, "s3://scenes/places/city", url+"/scenes/places/city/city.json")
}

// TestPublishToServer runs against the real server of scripts/test-s3.sh.
func TestPublishToServer(t *testing.T) {
	address := os.Getenv("UNTOLD_TEST_S3")
	if address == "" {
		t.Skip("UNTOLD_TEST_S3 names no bucket: make test-s3")
	}
	publishTwice(t, nil, address, os.Getenv("AWS_ENDPOINT_URL")+"/"+strings.TrimPrefix(address, "s3://")+"/city.json")
}

// flight is a reader that flies along the tiles of a scene.
type flight struct {
	t      *testing.T
	s      *runtime.Streamer
	tiles  []manifest.Tile
	at     int
	frames time.Duration
}

// Now is the clock of the Streamer: time passes by frames.
func (f *flight) Now() time.Duration { return f.frames }

// step goes to the next tile and loads what is there.
func (f *flight) step() {
	f.t.Helper()
	if f.at >= len(f.tiles) {
		return
	}
	c := f.tiles[f.at].Center
	f.at++
	for n := 0; n < 20; {
		f.s.Update(runtime.Camera{Position: c, Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 1, Near: 0.1, Far: 500}, 100*time.Millisecond)
		if f.frames += 100 * time.Millisecond; f.s.Stats().ActiveLoads > 0 {
			<-f.s.Ready()
			continue
		}
		n++
	}
}

// TestReadDuringPublish: a runtime that has opened a version reads its tiles and
// textures from the bucket's server while the next two are published and what they do
// not need is removed, and after that.
func TestReadDuringPublish(t *testing.T) {
	t.Parallel()
	scene, dir := smallCity(t)
	var mu sync.Mutex
	var step atomic.Pointer[func()]
	url, env := fakeBucket(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if f := step.Load(); f != nil && (r.Method == http.MethodPut || r.Method == http.MethodDelete) {
				mu.Lock()
				(*f)()
				mu.Unlock()
			}
			h.ServeHTTP(w, r)
		})
	})
	publishing(t, env, dir, "s3://scenes/city")
	fetch, err := remote.New(remote.Options{CacheDir: filepath.Join(t.TempDir(), "cache"), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer fetch.Close()
	m, err := fetch.OpenManifest(t.Context(), url+"/scenes/city/city.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := manifest.Load(m.File)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.GeometryBudget, cfg.TextureBudget = 1<<40, 1<<40
	f := &flight{t: t, tiles: doc.Tiles}
	f.s, err = runtime.Open(t.Context(), runtime.Source{Path: m.File, Base: m.Base, Manifest: doc}, cfg, runtime.Deps{Fetcher: fetch, Clock: f})
	if err != nil {
		t.Fatal(err)
	}
	defer f.s.Close()
	f.step()
	before := f.s.Stats().LoadsCompleted
	during := f.step
	step.Store(&during)
	// The edit changes a texture, so that addresses of tiles change that did not.
	recolour(t, scene)
	cookCity(t, scene, dir)
	second := publishing(t, env, dir, "s3://scenes/city", "--jobs", "1", "--keep", "2", "--grace", "0")
	if second.Version != 2 || len(second.Sent) == 0 {
		t.Errorf("%+v", second)
	}
	step.Store(nil)
	mu.Lock() // a process that ended orders nothing between the handlers' goroutines and this one
	defer mu.Unlock()
	if at := f.at; at < 3 || f.s.Stats().LoadsCompleted <= before {
		t.Errorf("during the publish %d tiles were passed and %d files loaded", at, f.s.Stats().LoadsCompleted-before)
	}
	for f.at < len(f.tiles) {
		f.step()
	}
	if err := fetch.WaitTextures(t.Context()); err != nil {
		t.Fatal(err)
	}
	net := fetch.Metrics()
	if s := f.s.Stats(); s.Failures != 0 || s.LoadsCompleted < uint64(len(f.tiles)) || net.Failures+net.FailedAttempts+net.TexturesFailed != 0 || net.Textures == 0 {
		t.Errorf("%d of %d files loaded, %d failed; %+v", s.LoadsCompleted, len(f.tiles), s.Failures, net)
	}
}

// recolour swaps the contents of two images of a GLB, whose names stay.
func recolour(t *testing.T, scene string) {
	t.Helper()
	data := testfile.Read(t, scene)
	from, to := glbText(data)
	var doc map[string]any
	if err := json.Unmarshal(data[from:to], &doc); err != nil {
		t.Fatal(err)
	}
	images := doc["images"].([]any)
	var swap []map[string]any
	for _, i := range images {
		if img := i.(map[string]any); img["mimeType"] == "image/png" && !strings.Contains(fmt.Sprint(img["name"]), "_") {
			swap = append(swap, img)
		}
	}
	if len(swap) < 2 {
		t.Fatal("too few images")
	}
	swap[0]["bufferView"], swap[1]["bufferView"] = swap[1]["bufferView"], swap[0]["bufferView"]
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	out := slices.Concat(data[:12], []byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16), byte(len(text) >> 24)}, data[16:20], text, data[to:])
	n := len(out)
	copy(out[8:], []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	testfile.Write(t, scene, out)
}

// TestPublishRefusals: what is said of arguments, flags, places and scenes.
func TestPublishRefusals(t *testing.T) {
	t.Parallel()
	dir := cooked(t)
	damaged := cooked(t)
	files, err := filepath.Glob(filepath.Join(damaged, "tiles", "*.untold"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(t.TempDir(), "place")
	_, env := fakeBucket(t, nil)
	down := slices.Concat(env, []string{"AWS_ENDPOINT_URL=http://127.0.0.1:1"})
	for _, c := range []struct {
		args string
		env  []string
		code int
		says string
	}{
		{dir, env, exitFailure, "name the cooked folder and the place"},
		{dir + " gs://x/y", env, exitFailure, "only s3:// and folders are known"},
		{dir + " s3://x/y", env, exitFailure, "3 to 63 letters"},
		{dir + " s3://none/y", env, exitFailure, "create the bucket"},
		{dir + " s3://scenes/y", down, exitFailure, "AWS_ENDPOINT_URL"},
		{dir + " " + place + " --rollback 1", env, exitFailure, "takes the place alone"},
		{place + " --rollback 0", env, exitFailure, "versions count from 1"},
		{place + " --rollback 1", env, exitWanting, "it has none"},
		{place + " --rollback 1 --keep 3", env, exitFailure, "--keep has no effect"},
		{dir + " " + place + " --keep -1", env, exitFailure, "--keep is -1"},
		{dir + " " + place + " --grace 1h", env, exitFailure, "add --keep"},
		{dir + " " + place + " --jobs 0", env, exitFailure, "at least 1"},
		{dir + " " + dir, env, exitWanting, "lie in one another"},
		{damaged + " " + place, env, exitWanting, "file-missing"},
		{yard(t) + " " + place, env, exitFailure, "untold cook"},
		{t.TempDir() + " " + place, env, exitWanting, "no manifest"},
		{filepath.Join(place, "none") + " " + place, env, exitFailure, "does not exist"},
	} {
		r := execute(t, c.env, append([]string{"publish"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) || strings.Contains(r.err, "secret") {
			t.Errorf("%s: exit %d: %s", c.args, r.code, r.err)
		}
	}
	if _, err := os.Stat(place); err == nil {
		t.Error("something was written")
	}
	r := execute(t, nil, "publish", dir, place)
	if r.code != 0 || !strings.Contains(r.stdout, "yard.json  changed\n") || !strings.Contains(r.stdout, "version 1") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
}
