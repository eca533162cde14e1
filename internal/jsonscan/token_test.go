package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestTokensAgreeWithJSON: literals and numbers are those of encoding/json.
func TestTokensAgreeWithJSON(t *testing.T) {
	piece := rapid.SampledFrom([]string{`"`, `\`, `\"`, `\n`, `\u00e9`, `\ud83d`, `\ude00`, `\u12`, "u", "a", "é", "\xff", "\t", "0", "1", "-", ".", "e", "+"})
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		if rapid.Bool().Draw(t, "string") {
			text = `"`
		}
		for _, p := range rapid.SliceOfN(piece, 1, 10).Draw(t, "pieces") {
			text += p
		}
		text = strings.Trim(text, "\t") // encoding/json takes blanks around a value
		if text != "" && text[0] == '"' {
			l := String([]byte(text), 0)
			whole := !l.Open && !l.Control && l.End == len(text)
			if want := json.Valid([]byte(text)); (whole && l.Escape < 0) != want {
				t.Fatalf("%q: %+v", text, l)
			}
			if !whole {
				return
			}
			var want string
			err := json.Unmarshal([]byte(text), &want)
			if got, ok := Unquote([]byte(text)); ok != (err == nil) || ok && got != want {
				t.Fatalf("%q: %q %v, want %q %v", text, got, ok, want, err)
			}
			return
		}
		end, _, ok := Number([]byte(text), 0)
		if want := json.Valid([]byte(text)); (ok && end == len(text)) != want {
			t.Fatalf("%q: %d %v", text, end, ok)
		}
	})
}

func TestPlaces(t *testing.T) {
	for text, want := range map[string]Literal{
		`"ab" `:      {End: 4, Plain: true, Escape: -1},
		`"\"":`:      {End: 4, Escape: -1},
		`"a\x\y"`:    {End: 7, Escape: 2},
		"\"a\nb\"":   {End: 2, Control: true, Plain: true, Escape: -1},
		`"a\`:        {End: 3, Open: true, Escape: 2},
		`"\u12"`:     {End: 6, Escape: 1},
		`"\ud83d" "`: {End: 8, Escape: -1},
	} {
		if got := String([]byte(text), 0); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	if i := NotUTF8([]byte("é\xffa")); i != 2 || NotUTF8([]byte("é")) != -1 {
		t.Error(i)
	}
	if Word([]byte("[nullx"), 1) != "null" || Word([]byte("nul"), 0) != "" || Word(nil, 0) != "" {
		t.Error("words")
	}
}
