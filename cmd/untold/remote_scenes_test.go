package main

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/manifest/scenelist"
)

// TestSceneAddress: what untold serve prints is taken by the commands that read
// scenes from addresses.
func TestSceneAddress(t *testing.T) {
	dir := cooked(t)
	s := startServe(t, dir)
	cache := t.TempDir()
	for _, address := range []string{s.url, strings.TrimSuffix(s.url, "/")} {
		for _, c := range [][]string{
			{"simulate", address, "--orbit", "--duration", "1s", "--cache-dir", cache},
			{"validate", address},
			{"inspect", address},
		} {
			if r := execute(t, nil, c...); r.code != 0 {
				t.Errorf("%v: %d %s", c, r.code, r.err)
			}
		}
	}
	for name, data := range testfile.ReadTree(t, dir) {
		testfile.Write(t, filepath.Join(dir, "again", filepath.FromSlash(name)), data)
	}
	r := execute(t, nil, "inspect", s.url)
	if want := " has 2 scenes; name one: " + s.url + "again/yard.json, " + s.url + "yard.json"; r.code != exitFailure || !strings.Contains(r.err, want) {
		t.Errorf("two scenes: %d %s", r.code, r.err)
	}
	if r := execute(t, nil, "validate", s.url); r.code != 0 || !strings.Contains(r.stdout, "without findings") {
		t.Errorf("two scenes: %d %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "inspect", s.url+"tiles/"); r.code != exitFailure || !strings.Contains(r.err, "lists no scenes, as untold serve does; name a manifest in it") {
		t.Errorf("a folder without a list: %d %s", r.code, r.err)
	}
}

func TestReadSceneList(t *testing.T) {
	folder := &url.URL{Scheme: "https", Host: "example.org", Path: "/a/"}
	for text, want := range map[string]string{
		`[]`: "",
		`[{"path":"x.json","tiles":3},{"path":"b c/y%3f.json"}]`: "https://example.org/a/x.json https://example.org/a/b%20c/y%253f.json",
		`[{"path":"../x.json"}]`:                                 "!scene 0",
		`[{"path":"https://elsewhere.org/x.json"}]`:              "!scene 0",
		`{"path":"x.json"}`:                                      "!no list of scenes",
		`<!DOCTYPE html>`:                                        "!no list of scenes",
		strings.Repeat(" ", scenelist.MaxBytes+1):                "!more than",
	} {
		list, err := readSceneList(testfile.Write(t, filepath.Join(t.TempDir(), scenelist.Name), text), folder)
		if wrong, ok := strings.CutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%.40s: %v, want %s", text, err, wrong)
			}
			continue
		}
		if err != nil || !slices.Equal(list, strings.Fields(want)) {
			t.Errorf("%.60s: %v, %v", text, list, err)
		}
	}
}
