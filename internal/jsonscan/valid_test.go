package jsonscan

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// jsonValue draws any JSON value with odd strings and spacing.
func jsonValue(depth int) *rapid.Generator[any] {
	odd := rapid.StringOf(rapid.SampledFrom([]rune("a\"\\{}[],: \n\té\u2028")))
	leaf := rapid.OneOf(odd.AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just(any(nil)))
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.SliceOfN(jsonValue(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(odd, jsonValue(depth-1), 0, 4).AsAny())
}

// TestSpansAgreeWithJSON compares the walking of spans with encoding/json.
func TestSpansAgreeWithJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.MapOfN(rapid.StringN(0, 5, -1), jsonValue(3), 0, 5).Draw(t, "value")
		raw, err := json.Marshal(value)
		if rapid.Bool().Draw(t, "indented") {
			raw, err = json.MarshalIndent(value, " ", "\t")
		}
		if err != nil {
			t.Skip("no JSON")
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		got := 0
		for key, val := range Members(raw, 0) {
			got++
			if raw[key.At] != '"' {
				t.Fatalf("%q at %d", key.Text, key.At)
			}
			compareSpan(t, string(key.Text), val.Of(raw), want[string(key.Text)])
		}
		if got != len(want) {
			t.Fatalf("%d members of %d in %s", got, len(want), raw)
		}
		for key := range want {
			if string(Member(raw, key)) != string(want[key]) {
				t.Fatalf("member %q is %s, want %s", key, Member(raw, key), want[key])
			}
		}
	})
}

func compareSpan(t *rapid.T, key string, got, want []byte) {
	if string(got) != string(want) {
		t.Fatalf("%q: got %s, want %s", key, got, want)
	}
	var list []json.RawMessage
	if json.Unmarshal(want, &list) != nil {
		return
	}
	n := 0
	for i, e := range Elements(got, 0) {
		if i != n || string(e.Of(got)) != string(list[i]) {
			t.Fatalf("%q: element %d is %s, want %s", key, i, e.Of(got), list[i])
		}
		n++
	}
	if n != len(list) {
		t.Fatalf("%q: %d elements of %d", key, n, len(list))
	}
}

// TestSpansOnAnyBytes verifies that no text makes the walk leave its slice.
func TestSpansOnAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(rapid.StringOf(rapid.SampledFrom([]rune(`{}[]",:\ 1n`))).Draw(t, "text"))
		for _, val := range Members(b, 0) {
			val.Of(b)
		}
		for _, val := range Elements(b, 0) {
			val.Of(b)
		}
		for i := range b {
			if end := Skip(b, i); end < i || end > len(b) {
				t.Fatalf("%q from %d ends at %d", b, i, end)
			}
		}
	})
}
