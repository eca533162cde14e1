package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/runtime/config"
)

// useOf is where a parameter has an effect.
func useOf(key string) parameterUse {
	group, _, _ := strings.Cut(key, ".")
	switch {
	case group == "cache" || key == "http.requestTimeout":
		return parameterUse{address: true}
	case group == "http":
		return parameterUse{address: true, network: true}
	case group == "batching" || key == "batchSecondaryTileRepresentations":
		return parameterUse{draws: true}
	}
	return parameterUse{draws: true, address: true, network: true}
}

// TestParametersAreUsedOrRefused: every key that --set takes has an effect where
// it is given, or is refused there.
func TestParametersAreUsedOrRefused(t *testing.T) {
	manifest := filepath.Join(cooked(t), "yard.json")
	scenario := filepath.Join("..", "..", "testdata", "simulate", "d01.json")
	always := func(key string) bool { u := useOf(key); return u.draws && u.address && u.network }
	for _, p := range config.Params() {
		value := p.Default
		if value == "" {
			value = "x"
		}
		set := p.Key + "=" + value
		for _, c := range []struct {
			args []string
			used bool
		}{
			{[]string{"simulate", manifest, "--duration", "0.1s"}, always(p.Key)},
			{[]string{"simulate", manifest, "--duration", "0.1s", "--bandwidth", "10MBps"}, always(p.Key) || useOf(p.Key).network},
			{[]string{"simulate", scenario}, always(p.Key)},
		} {
			r := execute(t, nil, append(c.args, "--set", set)...)
			if refused := r.code == exitFailure && strings.Contains(r.err, "has no effect"); refused == c.used || r.code != 0 && !refused {
				t.Errorf("%v: exit %d, %s", append(c.args, set), r.code, r.err)
			}
		}
		local, remote := parameterUse{draws: true}, parameterUse{draws: true, address: true}
		if why := local.useless(p.Key); (why == "") != useOf(p.Key).draws {
			t.Errorf("preview of a file, %s: %q", p.Key, why)
		}
		if why := remote.useless(p.Key); why != "" {
			t.Errorf("preview of an address, %s: %q", p.Key, why)
		}
	}
}

// TestParametersAreRead: every field of the configuration is read by something
// else than its own table.
func TestParametersAreRead(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"runtime", "preview", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, d os.DirEntry, err error) error {
			name := filepath.Base(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || filepath.Base(filepath.Dir(path)) == "config" {
				return err
			}
			data, err := os.ReadFile(path)
			code.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := strings.ToLower(code.String())
	for _, p := range config.Params() {
		group, name, in := strings.Cut(p.Key, ".")
		if !in {
			name = group
		}
		if !regexp.MustCompile(`\.` + strings.ToLower(name) + `\b`).MatchString(text) {
			t.Errorf("nothing reads %s", p.Key)
		}
	}
}

// TestPreviewSetReachesTheNetwork: http.* and cache.* hold for the downloads of
// the preview as for those of simulate.
func TestPreviewSetReachesTheNetwork(t *testing.T) {
	var asked atomic.Int32
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer broken.Close()
	commands := []string{"simulate"}
	if preview.Available {
		commands = append(commands, "preview")
	}
	for _, command := range commands {
		asked.Store(0)
		r := here(t, command, broken.URL+"/yard.json", "--set", "http.attempts=1", "--cache-dir", t.TempDir())
		if n := asked.Load(); r.code != exitFailure || n != 1 {
			t.Errorf("%s: exit %d, asked %d times for http.attempts=1\n%s", command, r.code, n, r.err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(cooked(t))))
	defer server.Close()
	for _, command := range commands {
		cache := filepath.Join(t.TempDir(), "cache")
		args := []string{command, server.URL + "/yard.json", "--set", "cache.dir=" + cache, "--duration", "0.2s", "--fly-through"}
		if command == "preview" {
			args = append(args, plainPicture...)
		}
		if r := here(t, args...); r.code != 0 {
			t.Errorf("%s: exit %d, %s", command, r.code, r.err)
		}
		if list, _ := os.ReadDir(cache); len(list) == 0 {
			t.Errorf("%s: nothing is in the folder of cache.dir", command)
		}
	}
}
