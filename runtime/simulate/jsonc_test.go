package simulate

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/race"
)

// plain converts a node to what encoding/json would give.
func plain(n *node) any {
	switch n.kind {
	case '{':
		m := map[string]any{}
		for i, k := range n.names {
			m[k.text] = plain(&n.items[i])
		}
		return m
	case '[':
		list := []any{}
		for i := range n.items {
			list = append(list, plain(&n.items[i]))
		}
		return list
	case '"':
		return n.text
	case '0':
		return json.Number(n.text)
	case 'n':
		return nil
	}
	return n.kind == 't'
}

func TestParseAgreesWithJSON(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `[1, -0.5, 1e9, 0E-3]`, `{"a": {"b": [true, false, null]}}`,
		`"\" \\ \/ \b \f \n \r \t \u00e9 \ud83d\ude00 \ud83d"`, `"é\u0000"`, "\ufeff{}", ` [ "//", {"/": 1} ] `,
	} {
		n, err := parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		dec := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := plain(n); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, want %#v", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", 100)
	for text, want := range map[string]string{
		"":                    "line 1, column 1: the text ends where a value should stand; is it cut off?",
		"{":                   `line 1, column 2: the text ends where a key in quotes should stand`,
		"{\n  \"a\" 1}":       `line 2, column 7: '1' where a colon should stand`,
		"[1,\n2,]":            `line 2, column 3: ']' where a value should stand; is there a comma before it?`,
		"[1 2]":               `line 1, column 4: '2' where a comma or ']' should stand`,
		"// only\n":           "line 2, column 1: the text ends",
		"[1] /* no */":        "line 1, column 5: a stray /; comments begin with //",
		"[01]":                "line 1, column 2: a malformed number",
		"[1.]":                "line 1, column 2: a malformed number",
		"[-]":                 "line 1, column 2: a malformed number",
		"[\"a\nb\"]":          "line 1, column 4: a control character in a string",
		`["\x"]`:              "line 1, column 2: a string with a wrong escape",
		`["\u12"]`:            "line 1, column 2: a string with a wrong escape",
		`["abc`:               "line 1, column 2: a string without an end",
		"[1]\n2":              "line 2, column 1: more text behind",
		"[\"\xff\"]":          "line 1, column 3: the text is not UTF-8",
		deep:                  "line 1, column 65: nested deeper than 64",
		"[nul]":               `line 1, column 2: 'n' where a value should stand`,
		"[\x00]":              "line 1, column 2: a NUL byte",
		"{\"a\":1,\n // c\n}": `line 3, column 1: '}' where a key in quotes should stand; is there a comma before it?`,
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTopKeys(t *testing.T) {
	got := topKeys([]byte(`{ // "no": 1
		"a": {"b": 1}, "c": [{"d": "\"e\":"}], "f" : 1 }`))
	if !reflect.DeepEqual(got, []string{"a", "c", "f"}) {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"", "{", `{"a`, `{"a":`, `]]]`, "/"} {
		topKeys([]byte(text)) // must end
	}
}

// TestValuesAreBounded: a text takes some tens of times its bytes in memory at
// most, and no file more values than there is a bound for.
func TestValuesAreBounded(t *testing.T) {
	const scene = `"scene":{"tiles":[{"tile_id":"a","bounds":{"min":[0,0,0],"max":[1,1,1]}`
	for name, c := range map[string]struct{ before, item, after string }{
		"numbers":  {`{"scene":{"tiles":[`, "0", `]}}`},
		"lists":    {`{"scene":{"tiles":[`, "[]", `]}}`},
		"texts":    {`{` + scene + `,"objects":[`, `""`, `]}]}}`},
		"keys":     {`{"scene":{`, `"":0`, `}}`},
		"attempts": {`{` + scene + `}]},"latency":{"attempts":{"a":[`, "0", `]}}}`},
		"memory":   {`{` + scene + `}]},"memory":[`, `{"t":0}`, `]}`},
	} {
		text := func(items int) []byte {
			return []byte(c.before + strings.Repeat(c.item+",", items-1) + c.item + c.after)
		}
		data := text(50_000)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		root, _ := parse(data)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if got, most := int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(len(data))*32; got > most {
			t.Errorf("%s: %d bytes of text take %d", name, len(data), got)
		}
		runtime.KeepAlive(root)
	}
	if race.Enabled {
		return // make test has too many values without the detector
	}
	if _, err := parse([]byte("[" + strings.Repeat("0,", maxValues) + "0]")); err == nil || !strings.Contains(err.Error(), "more than 2097152 values") {
		t.Error(err)
	}
}
