package goschema

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Size int64 `json:"size"` // bytes
	list []int
}

type Base struct {
	// Name is of the scene.
	Name string `json:"name"`
}

type loud string

func (l loud) MarshalText() ([]byte, error) { return []byte(l), nil }

type outer struct {
	Base
	One    inner          `json:"one"`
	Maybe  *inner         `json:"maybe"`
	Absent *uint32        `json:"absent,omitempty"`
	At     [3]float64     `json:"at"`
	When   time.Time      `json:"when"`
	By     map[string]int `json:"by"`
	Loud   loud           `json:"loud"`
	Place  string         `json:"place"`
	Hidden int            `json:"-"`
}

func TestOf(t *testing.T) {
	got, err := Of([]outer{{One: inner{list: nil}}}, Options{
		ID: "x", Title: "outers", Module: "github.com/untoldkit/untold", Root: "../..",
		Types:  map[string]string{"goschema.loud": `{"enum": ["a", "b"]}`},
		Fields: map[string]string{"goschema.outer.place": `{"enum": ["tiles", "none"]}`},
		Meaning: func(of, key string) string {
			if of == "goschema.outer" && key == "by" {
				return "counts"
			}
			return ""
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "x",
  "title": "outers",
  "type": "array",
  "items": {
    "$ref": "#/$defs/goschema.outer"
  },
  "$defs": {
    "goschema.inner": {
      "type": "object",
      "properties": {
        "size": {
          "type": "integer"
        }
      },
      "required": [
        "size"
      ],
      "additionalProperties": false
    },
`
	if !strings.HasPrefix(string(got), want) {
		t.Error(cmp.Diff(want, string(got)))
	}
	for _, part := range []string{
		`"name": {`, `"required": [
        "name",
        "one",
        "maybe",
        "at",
        "when",
        "by",
        "loud",
        "place"
      ]`, `"minItems": 3`, `"format": "date-time"`, `"description": "counts"`, `"type": "null"`,
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("no %s in\n%s", part, got)
		}
	}
	if _, err := Of(loud(""), Options{}); err == nil {
		t.Error("a type that encodes itself is passed over")
	}
	if _, err := Of(make(chan int), Options{}); err == nil {
		t.Error("a channel has a schema")
	}
}
