package engineoracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/untoldkit/untold/internal/bom"
)

// Error says which value the engine's decoder would stop at.
type Error struct {
	Path   string // such as tiles[3].bounds.min
	Reason string
}

// Error returns one line.
func (e *Error) Error() string { return "manifest decode failed: " + e.Path + ": " + e.Reason }

// maxDepth is the deepest nesting that Foundation's parser accepts.
const maxDepth = 512

// parse reads one JSON text into objects (map[string]any, the last of equal
// keys), arrays ([]any), strings, json.Number, bool and nil.
func parse(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(bom.Trim(data)))
	d.UseNumber()
	v, err := parseValue(d, 0)
	if err != nil {
		return nil, &Error{"text", err.Error()}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{"text", "more behind the value"}
	}
	return v, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	bracket, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth >= maxDepth {
		return nil, errors.New("nested too deeply")
	}
	if bracket == '[' {
		list := []any{}
		for d.More() {
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	object := map[string]any{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no key", key)
		}
		if object[name], err = parseValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = d.Token()
	return object, err
}

// fail stops the decoding, as a throw does.
func fail(path, format string, args ...any) {
	panic(&Error{path, fmt.Sprintf(format, args...)})
}

// decode is how a type is made out of a value. The path is for messages.
type decode[T any] func(v any, path string) T

func asString(v any, path string) string {
	s, ok := v.(string)
	if !ok {
		fail(path, "expected a string, found %T", v)
	}
	return s
}

func asBool(v any, path string) bool {
	b, ok := v.(bool)
	if !ok {
		fail(path, "expected a bool, found %T", v)
	}
	return b
}

func asInt(v any, path string) int64 {
	n, ok := v.(json.Number)
	if !ok {
		fail(path, "expected an Int, found %T", v)
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, err := n.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		fail(path, "the number %s does not fit in Int", n)
	}
	return int64(f)
}

func asFloat(v any, path string) float32 {
	n, ok := v.(json.Number)
	if !ok {
		fail(path, "expected a Float, found %T", v)
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.Abs(f) > math.MaxFloat32 {
		fail(path, "the number %s does not fit in Float", n)
	}
	return float32(f)
}

// listOf decodes arrays.
func listOf[T any](of decode[T]) decode[[]T] {
	return func(v any, path string) []T {
		list, ok := v.([]any)
		if !ok {
			fail(path, "expected an array, found %T", v)
		}
		out := make([]T, len(list))
		for i := range list {
			out[i] = of(list[i], fmt.Sprintf("%s[%d]", path, i))
		}
		return out
	}
}

var asFloats = listOf(asFloat)

// keyed is a keyed decoding container.
type keyed struct {
	object map[string]any
	path   string
}

func asKeyed(v any, path string) keyed {
	o, ok := v.(map[string]any)
	if !ok {
		fail(path, "expected an object, found %T", v)
	}
	return keyed{o, path}
}

// required is decode(_:forKey:).
func required[T any](k keyed, key string, as decode[T]) T {
	path := k.path + "." + key
	v, ok := k.object[key]
	if !ok {
		fail(path, "no value for the key")
	}
	if v == nil {
		fail(path, "null where a value is required")
	}
	return as(v, path)
}

// ifPresent is decodeIfPresent(_:forKey:): nil for an absent key and for null.
func ifPresent[T any](k keyed, key string, as decode[T]) *T {
	v, ok := k.object[key]
	if !ok || v == nil {
		return nil
	}
	t := as(v, k.path+"."+key)
	return &t
}

// or is the ?? of Swift.
func or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}
