package manifest

import (
	"strings"
	"sync"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// wrap puts a list of copies of an element at a place of a small manifest.
func wrap(key, element string, n int) []byte {
	list := strings.Repeat(element+",", n-1) + element
	return []byte(`{"version": 1, "streaming_defaults": {"streaming_radius": 1, "unload_radius": 9, "priority": 1}, "tiles": [], ` +
		strings.Replace(key, "LIST", list, 1) + `}`)
}

// Texts that are made to need much memory get only a multiple of their length.
func TestDecodeMemoryIsBounded(t *testing.T) {
	const n = 50_000
	minimal := `{"tile_id":"","path_relative_to_manifest":"","file_size_bytes":0,"bounds":{"min":[0,0,0],"max":[0,0,0]},"center":[0,0,0]}`
	for _, c := range []struct {
		name, key, element string
		n                  int
	}{
		{"unknown brackets", `"x": [LIST]`, `[]`, n},
		{"unknown objects", `"x": [LIST]`, `{"":0}`, n},
		{"empty names", `"tiles": [{"objects": [LIST]}]`, `""`, n},
		{"minimal tiles", `"tiles": [LIST]`, minimal, 5_000},
		{"skipped tiles", `"tiles": [LIST]`, strings.Replace(minimal, `"center":[0,0,0]`, `"center":[]`, 1), 5_000},
		{"wrong tiles", `"tiles": [LIST]`, `{}`, n},
		{"minimal levels", `"shared_bucket": {"lod_levels": [LIST]}`, `{"path":"","switch_distance":0}`, 10_000},
		{"numbers", `"interior_zone": {"min": [LIST], "max": [0, 0, 0]}`, `0`, n},
		{"repeated keys", `"x": 1, LIST`, `"version": 1`, n},
		{"one long string", `"x": "LIST"`, `abcdefgh`, n},
		{"one long name", `"generator": "LIST"`, `abcdefgh`, n},
		{"one long escaped name", `"generator": "LIST"`, `\u0041`, n},
	} {
		data := wrap(c.key, c.element, c.n)
		// Decode and the collecting decode of Validate.
		got := fuzzbound.Allocated(func() { Decode(data) })
		if limit := uint64(len(data))*170 + 4<<20; got > limit {
			t.Errorf("%s: %d bytes allocated for %d", c.name, got, len(data))
		}
		found := ValidateBytes(data, "", ValidateOptions{})
		for _, f := range found {
			if f.Offset > int64(len(data)) {
				t.Errorf("%s: %v", c.name, f)
			}
		}
	}
}

// Where entries are shorter in the text than in memory, their number counts.
func TestDecodeBoundsEntries(t *testing.T) {
	for _, key := range []string{`"scene_lights": [LIST]`, `"scene_cameras": [LIST]`, `"failed_tiles": [LIST]`} {
		if _, err := Decode(wrap(key, `{}`, 3)); err != nil {
			t.Error(err)
		}
	}
	s := &scanner{data: []byte("[" + strings.Repeat("1,", maxEntries) + "1]")}
	short((*scanner).count)(s)
	if s.err == nil || s.err.Kind != ErrTooLarge || s.err.Pointer != "/1048576" {
		t.Fatal(s.err)
	}
	s = &scanner{data: []byte("[" + strings.Repeat("1,", maxEntries-1) + "1]")}
	if n := len(short((*scanner).count)(s)); s.err != nil || n != maxEntries {
		t.Fatal(n, s.err)
	}
}

func TestDecodeDepth(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		text := []byte(strings.Repeat(open, 1<<20))
		if _, err := Decode(text); err == nil {
			t.Error("accepted")
		}
		text = wrap(`"x": LIST`, strings.Repeat(open, 1<<16), 1)
		if _, err := Decode(text); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Error(err)
		}
	}
	// As deep as allowed: the top level takes one.
	at := func(n int) []byte { return wrap(`"x": LIST`, strings.Repeat("[", n)+strings.Repeat("]", n), 1) }
	if _, err := Decode(at(maxDepth - 1)); err != nil {
		t.Error(err)
	}
	if _, err := Decode(at(maxDepth)); err == nil {
		t.Error("one level more is accepted")
	}
}

func TestErrorsShowNoControlCharacters(t *testing.T) {
	for _, bad := range []string{"\x1b[2J", "\u202e", "\u200b", "\r\n"} {
		// As an escaped key and as a value.
		key := strings.NewReplacer("\x1b", `\u001b`, "\r", `\r`, "\n", `\n`).Replace(bad)
		_, err := Decode(edit(t, `"version": 1`, `"scene_lights": [{"kind": {"`+key+`": 1}}], "version": 1`))
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\r\n\u202e\u200b") {
			t.Errorf("%q", err)
		}
		_, err = Decode(edit(t, `"version": 1`, `"version": "`+key+`"`))
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\r\n\u202e\u200b") {
			t.Errorf("%q", err)
		}
		m := clean()
		m.Tiles[0].ID, m.Tiles[1].ID = bad, bad
		for _, f := range Validate(m, "", ValidateOptions{}) {
			if strings.ContainsAny(f.String(), "\x1b\r\n\u202e\u200b") {
				t.Errorf("%q", f)
			}
		}
	}
}

// A decoded manifest may be read and written from many goroutines.
func TestManifestIsSafeToShare(t *testing.T) {
	m, err := Decode(encodeBytes(t, many(50)))
	if err != nil {
		t.Fatal(err)
	}
	want := string(encodeBytes(t, m))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var b strings.Builder
			if err := m.Encode(&b); err != nil || b.String() != want {
				t.Error("encodings differ", err)
			}
			Validate(m, "", ValidateOptions{})
			for i := range m.Tiles {
				m.BandsOf(&m.Tiles[i])
			}
		})
	}
	wg.Wait()
}
