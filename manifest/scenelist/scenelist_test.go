package scenelist

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "",
		`[{"path":"x.json","tiles":3},{"path":"b c/y%3f.json"}]`:           "",
		`[{"path":"../x.json"}]`:                                           "scene 0",
		`[{"path":"x.json"},{}]`:                                           "scene 1",
		`[{"path":"x.json","packed":"payloads/a.json.gz"}]`:                "",
		`[{"path":"x.json","packed":"/a.json.gz"}]`:                        "scene 0",
		`[{"path":"x.json","packed":"https://elsewhere.org/a.json.gz"}]`:   "scene 0",
		`[{"path":"https://elsewhere.org/x.json"}]`:                        "scene 0",
		`{"path":"x.json"}`:                                                "no list of scenes",
		`<!DOCTYPE html>`:                                                  "no list of scenes",
		`[` + strings.Repeat(`{"path":"x"},`, MaxScenes) + `{"path":"x"}]`: "the most that are read",
		strings.Repeat(" ", MaxBytes+1):                                    "more than",
	} {
		if _, err := Parse([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, list := range [][]Scene{nil, {{Path: "a b.json", Tiles: 3, Bytes: 1 << 40}, {Path: "x/y.json", Packed: "x/payloads/a.json.gz"}}} {
		data, err := Encode(list)
		if err != nil || data[0] != '[' || data[len(data)-1] != '\n' {
			t.Fatalf("%q, %v", data, err)
		}
		if got, err := Parse(data); err != nil || !slices.Equal(got, list) {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// FuzzParse: no list makes a reader leave its place, and what is read is written and read
// again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"path":"x.json","tiles":3,"bytes":7}]`))
	f.Add([]byte(`[{"path":"../x.json"}]`))
	f.Add([]byte(`[{"path":"x.json","packed":"payloads/../../a.json.gz"}]`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Encode(list)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(again); len(again) <= MaxBytes && (err != nil || !slices.Equal(got, list)) {
			t.Fatalf("%v becomes %v, %v", list, got, err)
		}
		for _, s := range list {
			for _, path := range []string{s.Path, s.Packed} {
				if strings.HasPrefix(path, "/") || slices.Contains(strings.Split(path, "/"), "..") {
					t.Fatalf("%q leads elsewhere", path)
				}
			}
		}
	})
}
