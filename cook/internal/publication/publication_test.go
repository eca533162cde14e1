package publication

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sum = strings.Repeat("0f", 32)

func sample() *Version {
	return &Version{Number: 7, Front: []File{{"index.html", 2, sum}}, Scenes: []Scene{{Manifest: "east/city.json", SHA256: sum, Size: 3, Files: []File{{"east/payloads/a.untold", 1, sum}}}}}
}

func TestParse(t *testing.T) {
	data, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse(data, 7)
	if err != nil || !v.Same(sample()) {
		t.Errorf("%+v, %v", v, err)
	}
	for name, change := range map[string][2]string{
		"another number": {`"version":7`, `"version":8`}, "another kind": {"untold-pub", "pub"}, "a later format": {`"format":1`, `"format":2`},
		"a manifest outside": {"east/city", "../city"}, "a file outside": {"east/payloads", "west/payloads"}, "a file on top": {"east/payloads/a", "east/a"},
		"a way up": {"payloads/a", "payloads/../a"}, "a bad hash": {sum, "0f"}, "a front below": {"index.html", "a/index.html"}, "a front outside": {"index.html", ".."}, "a negative size": {`"size":1`, `"size":-1`}, "cut": {"}", ""},
	} {
		bad := bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)
		if v, err := Parse(bad, 7); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

func TestNames(t *testing.T) {
	for n, key := range map[int]string{1: ".untold/publish/v000001.json", 1234567: ".untold/publish/v1234567.json"} {
		if got, ok := Number(key); !ok || got != n || Key(n) != key {
			t.Errorf("%s: %d, %v; %s", key, got, ok, Key(n))
		}
	}
	for _, key := range []string{"v000001.json", Folder + "v1.json", Folder + "v000000.json", Folder + "v0000001.json", Folder + "v000001.json.x", ManifestKey(sum)} {
		if n, ok := Number(key); ok {
			t.Errorf("%s is the record of %d", key, n)
		}
	}
	if got := sample().Keys(); !slices.Equal(got, []string{Key(7), "east/city.json", ManifestKey(sum), "east/payloads/a.untold"}) {
		t.Errorf("%q", got)
	}
	for key, want := range map[string]bool{ManifestKey(sum): true, sum + ".json": false, Folder + sum: false, Folder + "notes.json": false, Folder + "x/" + sum + ".json": false, Key(7): false} {
		if IsManifestKey(key) != want {
			t.Errorf("%s: %v", key, !want)
		}
	}
	if a, b := Payloads("city.json"), Payloads("a/b/city.json"); a != "payloads/" || b != "a/b/payloads/" {
		t.Error(a, b)
	}
}

func TestCarry(t *testing.T) {
	v := &Version{Scenes: []Scene{{Manifest: "b", SHA256: "new"}}}
	v.Carry(&Version{Scenes: []Scene{{Manifest: "a"}, {Manifest: "b", SHA256: "old"}, {Manifest: "c"}}})
	if d := cmp.Diff([]Scene{{Manifest: "a"}, {Manifest: "b", SHA256: "new"}, {Manifest: "c"}}, v.Scenes); d != "" {
		t.Error(d)
	}
	page := &Version{Viewer: []File{{"payloads/viewer-a/b", 1, sum}}, Front: []File{{"index.html", 2, sum}}}
	if w := (&Version{}); !w.Same(&Version{}) || w.Same(&Version{Export: true}) || w.Same(&Version{Front: page.Front}) {
		t.Error("marks make no difference")
	} else if w.Carry(page); !w.Same(page) {
		t.Errorf("%+v", w)
	}
	if v.Carry(nil); len(v.Scenes) != 3 || v.Same(nil) {
		t.Error(v)
	}
}

func FuzzParse(f *testing.F) {
	data, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"kind":"untold-publication","format":1,"version":7,"scenes":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, 7)
		if err != nil {
			return
		}
		again, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if w, err := Parse(again, 7); err != nil || !w.Same(v) {
			t.Fatalf("%v: %s", err, again)
		}
	})
}
