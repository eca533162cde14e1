package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/runtime/simulate"
)

// streamed is the report of a run over the network.
type streamed struct {
	simulate.Report
	Network struct {
		Requests, Conditional, Textures int64
		NotModified                     int64 `json:"not_modified"`
		Retries                         int64
		BytesFetched                    int64 `json:"bytes_fetched"`
		CacheHits                       int64 `json:"cache_hits"`
	}
}

// stream simulates from an address.
func stream(t *testing.T, address, cache string, flags ...string) streamed {
	t.Helper()
	r := execute(t, nil, append([]string{"simulate", address, "--cache-dir", cache, "--json", "--fail-if", "undrawn>0", "--fail-if", "double_drawn>0", "--fail-if", "loads<1"}, flags...)...)
	var s streamed
	if err := json.Unmarshal([]byte(r.stdout), &s); r.code != 0 || err != nil {
		t.Fatalf("exit %d: %v\n%s%s", r.code, err, r.stdout, r.err)
	}
	return s
}

// TestSimulateRemote streams a scene over a bad network, and again from the
// cache with one conditional request.
func TestSimulateRemote(t *testing.T) {
	t.Parallel()
	dir := cooked(t, "--lod-level", "0.3:0.5", "--hlod-level", "_hlod:1:0.1", "--tile-size", "6")
	// Under this seed three tiles fail at first, the manifest never.
	s := startServe(t, dir, "--latency", "2ms", "--bandwidth", "10MBps", "--fail-rate", "0.1", "--fail-with", "status,abort,truncate", "--seed", "0")
	cache := t.TempDir()
	// A camera that stands still wants the same files however fast they come.
	path := testfile.Write(t, filepath.Join(t.TempDir(), "still.json"), []byte(`{"camera": [{"t": 0, "position": [18, 1, 6], "forward": [0, 0, -1]}]}`))
	flags := []string{"--camera-path", path, "--duration", "10s"}
	first := stream(t, s.scenes[0], cache, flags...)
	log := s.requests(t, int(first.Network.Requests))
	failed := 0
	for _, l := range log {
		if l.Fault != "" {
			failed++
		}
	}
	if failed == 0 || first.Network.Requests != int64(len(log)) || first.Network.Retries != int64(failed) || first.Failures != 0 {
		t.Errorf("%d requests of which %d fail: %+v", len(log), failed, first)
	}
	if first.BytesLoaded == 0 || first.BytesLoaded != first.BytesRequested || first.Network.BytesFetched < first.BytesLoaded {
		t.Errorf("%+v", first)
	}
	again := stream(t, s.scenes[0], cache, flags...)
	log = s.requests(t, 1)
	if len(log) != 1 || log[0].Path != "/yard.json" || log[0].Status != 304 {
		t.Errorf("again: %+v", log)
	}
	if n := again.Network; n.Requests != 1 || n.Conditional != 1 || n.NotModified != 1 || n.BytesFetched != 0 || n.CacheHits == 0 {
		t.Errorf("again: %+v", n)
	}
	if again.BytesLoaded == 0 || again.BytesLoaded != again.BytesRequested {
		t.Errorf("again %+v", again)
	}
	// The figures for people.
	r := execute(t, nil, "simulate", s.scenes[0], "--cache-dir", cache, "--camera-path", path, "--duration", "1s")
	if r.code != 0 || !strings.Contains(r.stdout, "not_modified") || !strings.Contains(r.stdout, "undrawn") {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	// The server's end: what the cache has goes on.
	if log, code := s.stop(t); code != 130 || len(log) != 2 || log[0].Status != 304 {
		t.Errorf("exit %d: %+v", code, log)
	}
	r = execute(t, []string{"UNTOLD_CACHE_DIR=" + cache}, append([]string{"simulate", s.scenes[0], "--set", "http.attempts=1", "--fail-if", "undrawn>0", "--fail-if", "failures>0"}, flags...)...)
	if r.code != 0 || !strings.Contains(r.err, "copy of an earlier time") {
		t.Errorf("without the server: exit %d: %s%s", r.code, r.stdout, r.err)
	}
}

// TestSimulateRemoteFlight: what a moving camera wants depends on how fast files
// come, but what has come is not asked for again.
func TestSimulateRemoteFlight(t *testing.T) {
	t.Parallel()
	s := startServe(t, cooked(t, "--lod", "--hlod", "--tile-size", "6"), "--latency", "5ms")
	cache := t.TempDir()
	flags := []string{"--fly-through", "--speed", "20", "--duration", "5s"}
	first := stream(t, s.scenes[0], cache, flags...)
	have := map[string]bool{}
	for _, l := range s.requests(t, int(first.Network.Requests)) {
		have[l.Path] = true
	}
	if first.Undrawn != 0 {
		t.Errorf("%+v", first)
	}
	again := stream(t, s.scenes[0], cache, flags...)
	conditional := 0
	for _, l := range s.requests(t, int(again.Network.Requests)) {
		switch {
		case l.Path == "/yard.json" && l.Status == 304:
			conditional++
		case have[l.Path]:
			t.Errorf("asked again for %s", l.Path)
		}
	}
	if conditional != 1 {
		t.Errorf("%d conditional requests", conditional)
	}
}

// TestSimulateRemoteInterrupted: Ctrl-C ends a run that waits for the network.
func TestSimulateRemoteInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts between processes on Windows")
	}
	dir := cooked(t)
	files := http.FileServer(http.Dir(dir))
	for _, hangs := range []string{".json", ".untold"} {
		asked := make(chan string, 1)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, hangs) {
				files.ServeHTTP(w, r)
				return
			}
			select {
			case asked <- r.URL.Path:
			default:
			}
			<-r.Context().Done()
		}))
		cmd := exec.Command(underTest(t), "simulate", s.URL+"/yard.json", "--cache-dir", t.TempDir())
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("%s: exit %d: %s", hangs, cmd.ProcessState.ExitCode(), errs.String())
		}
		s.Close()
	}
}

// TestSimulateRemoteModel: --parse-time takes the place of the decoder.
func TestSimulateRemoteModel(t *testing.T) {
	s := startServe(t, cooked(t))
	stream(t, s.scenes[0], t.TempDir(), "--orbit", "--duration", "2s", "--parse-time", "10ms", "--cache-budget", "1G", "--events", filepath.Join(t.TempDir(), "e"))
}

func TestRemoteRefuses(t *testing.T) {
	t.Parallel()
	dir := cooked(t)
	put := func(name, text string) {
		testfile.Write(t, filepath.Join(dir, name), text)
	}
	put("broken.json", "{")
	put("scenario.json", `{"scene": {"partitioning_mode": "uniform_grid", "streaming_defaults": {"streaming_radius": 50, "unload_radius": 100, "priority": 10}, "tiles": []}}`)
	put("broken.untold", "no container")
	s := startServe(t, dir)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "untold serve", []string{"simulate", s.url + "yard.json", "--bandwidth", "1MBps"}},
		{2, "untold serve", []string{"simulate", s.url + "yard.json", "--latency", "1s"}},
		{1, "broken.json", []string{"simulate", s.url + "broken.json"}},
		{1, "only manifests", []string{"simulate", s.url + "scenario.json"}},
		{2, "--cache-budget", []string{"simulate", s.url + "yard.json", "--cache-budget", "much"}},
		{2, "--allow-insecure-http", []string{"simulate", "http://192.0.2.1/yard.json"}},
		{2, "--allow-insecure-http", []string{"validate", "http://192.0.2.1/yard.json"}},
		{2, "--allow-insecure-http", []string{"inspect", "http://192.0.2.1/a.untold"}},
		{2, "is a folder", []string{"validate", s.url + "tiles/"}},
		{1, "broken.untold", []string{"inspect", s.url + "broken.untold"}},
		{1, "broken.json", []string{"inspect", s.url + "broken.json"}},
		{1, "broken.json: error", []string{"validate", s.url + "broken.json"}},
		{1, "broken.untold: error", []string{"validate", s.url + "broken.untold"}},
		{2, "goes with a manifest", []string{"inspect", s.url + "broken.untold", "--map", "x.svg"}},
	} {
		args := c.args
		if args[0] == "simulate" {
			args = append(args, "--cache-dir", t.TempDir())
		}
		if r := execute(t, nil, args...); r.code != c.code || !strings.Contains(r.err+r.stdout, c.want) || strings.Contains(r.err+r.stdout, os.TempDir()+"/untold-") {
			t.Errorf("%v: exit %d: %s%s", c.args, r.code, r.stdout, r.err)
		}
	}
}

// TestUnreachable: no answer is no verdict.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The port at the other end of a connection is taken, and nobody listens there.
	taken, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	host := taken.LocalAddr().String()
	address := fmt.Sprintf("http://%s/yard.json", host)
	if r := execute(t, nil, "simulate", address, "--cache-dir", t.TempDir(), "--set", "http.attempts=1"); r.code != 2 || !strings.Contains(r.err, host) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestValidateRemote(t *testing.T) {
	t.Parallel()
	dir := cooked(t, "--tile-size", "6")
	s := startServe(t, dir)
	r := execute(t, nil, "validate", s.scenes[0], filepath.Join(dir, "yard.json"), "--strict", "-v")
	tiles, err := filepath.Glob(filepath.Join(dir, "tiles", "*.untold"))
	if err != nil || len(tiles) < 2 {
		t.Fatal(tiles, err)
	}
	first := "tiles/" + filepath.Base(tiles[0])
	if r.code != 0 || !strings.Contains(r.stdout, s.url+first+": ok") || !strings.Contains(r.stdout, fmt.Sprintf("%d files", 2*len(tiles)+2)) {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "validate", s.url+first, "--json"); r.code != 0 || !strings.Contains(r.stdout, `"path": "`+s.url+first+`"`) {
		t.Errorf("exit %d: %s%s", r.code, r.stdout, r.err)
	}
	// What the server has is judged, and a file that it lacks is a finding.
	data := []byte(string(testfile.Read(t, tiles[0])))
	data[len(data)-1] ^= 1
	testfile.Write(t, tiles[0], data)
	if err := os.Remove(tiles[1]); err != nil {
		t.Fatal(err)
	}
	r = execute(t, nil, "validate", s.scenes[0])
	for _, want := range []string{s.url + first + ": error", "there is no file tiles/" + filepath.Base(tiles[1]), "the manifest says"} {
		if r.code != 1 || !strings.Contains(r.stdout, want) {
			t.Errorf("exit %d, without %q: %s%s", r.code, want, r.stdout, r.err)
		}
	}
}

func TestInspectRemote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := filepath.Join(dir, "big.untold")
	if r := execute(t, nil, "convert", testfile.Write(t, filepath.Join(t.TempDir(), "big.gltf"), boxScene(3000)), "-o", big, "--compress", "none"); r.code != 0 {
		t.Fatal(r.err)
	}
	st, err := os.Stat(big)
	if err != nil {
		t.Fatal(err)
	}
	s := startServe(t, dir)
	for _, args := range [][]string{nil, {"--mesh", "2"}, {"--chunk", "MESH_TABLE", "--json"}} {
		local := execute(t, nil, append([]string{"inspect", big}, args...)...)
		r := execute(t, nil, append([]string{"inspect", s.url + "big.untold", "-v"}, args...)...)
		if want := strings.ReplaceAll(local.stdout, big, s.url+"big.untold"); r.code != 0 || r.stdout != want {
			t.Errorf("%v: exit %d: %.300s%s", args, r.code, r.stdout, r.err)
		}
		sum := int64(0)
		n := 0
		if at := strings.Index(r.err, " in "); at >= 0 {
			fmt.Sscanf(r.err[at:], " in %d requests", &n)
		}
		for _, l := range s.requests(t, n) {
			if l.Status != 206 {
				t.Errorf("%+v", l)
			}
			sum += l.Bytes
		}
		if sum == 0 || sum >= st.Size() || !strings.Contains(r.err, "fetched "+human.Bytes(sum)+" of "+human.Bytes(st.Size())) {
			t.Errorf("%v: %d of %d bytes: %s", args, sum, st.Size(), r.err)
		}
	}
	if r := execute(t, nil, "inspect", s.url+"big.untold", "--stats"); r.code != 0 || r.err != "" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	// A file that is cut while it is read is no damaged one.
	bad := startServe(t, dir, "--fail-rate", "1", "--fail-status", "410")
	if r := execute(t, nil, "inspect", bad.url+"big.untold"); r.code != 2 || !strings.Contains(r.err, "410") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestByteSizeFlag(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "500M": 500_000_000, "500 MB": 500_000_000, "2g": 2_000_000_000, "1.5K": 1500, "64KiB": 65536, "1GiB": 1 << 30, "7B": 7, "3TiB": 3 << 40,
	} {
		var b byteSize
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%s: %d, %v", text, int64(b), err)
		}
	}
	for _, text := range []string{"", "M", "-1M", "0", "nan", "infM", "1e30", "10X", "M10", "0.5", "9223372036854775808"} {
		if err := new(byteSize).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
