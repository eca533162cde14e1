package gltfscene

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/jsonscan"
)

// The decoding of qmuntal/gltf is lenient: it takes an unknown component type
// for FLOAT and an unknown mode for TRIANGLES, fills up short arrays, cannot
// tell a missing index from 0, lets null into slices of pointers and ignores
// the case of names. A schema is checked before, so that what it then decodes
// means what the file says.

// kind is the JSON type that a property must have.
type kind uint8

const (
	isInt      kind = iota // a whole number, >= 0 unless neg
	isNum                  // a number
	isBool                 // true or false
	isString               // a string
	isObject               // an object, checked against sub if that is set
	isInts                 // an array of whole numbers
	isNums                 // an array of size numbers
	isObjects              // an array of objects of schema sub
	isIndexMap             // an object of whole numbers: attributes
	isMaps                 // an array of isIndexMap: morph targets
	isAny                  // anything
)

// prop is one property of a JSON object.
type prop struct {
	name string
	kind kind
	need bool     // the property is required
	size int      // isNums: how many, 0 for any
	sub  *schema  // isObject, isObjects
	ints []int    // isInt: the values allowed
	strs []string // isString: the values allowed
}

// schema lists the properties of one kind of JSON object; others are ignored.
type schema struct {
	props []prop
}

// checker walks one element. Its place is relative to the element.
type checker struct {
	fractional bool // some whole number is written like 3.0 or 1e2
}

func (c *checker) object(s *schema, raw []byte) error { return c.members(s, raw, nil) }

// members is object that hands out each property, once it is checked, with its value.
// Those that are null it leaves out.
func (c *checker) members(s *schema, raw []byte, each func(p *prop, val []byte)) error {
	if len(raw) == 0 || raw[0] != '{' {
		return malformed("", "is %s, must be an object", typeName(raw))
	}
	var seen uint64
	for k, span := range jsonscan.Members(raw, 0) {
		key, val := k.Text, span.Of(raw)
		for k := range s.props {
			p := &s.props[k]
			if p.name != string(key) {
				if (len(p.name) == len(key) || !isASCII(key)) && strings.EqualFold(p.name, string(key)) {
					return malformed("."+clip(string(key)), "must be spelled %q", p.name)
				}
				continue
			}
			if seen&(1<<k) != 0 {
				return malformed("."+p.name, "occurs twice")
			}
			if isNull(val) {
				break // treated as absent, as some exporters mean it
			}
			seen |= 1 << k
			if err := c.value(p, val); err != nil {
				return at("."+p.name, err)
			}
			if each != nil {
				each(p, val)
			}
			break
		}
	}
	for k := range s.props {
		if s.props[k].need && seen&(1<<k) == 0 {
			return malformed("."+s.props[k].name, "is missing")
		}
	}
	return nil
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// value checks one property's value.
func (c *checker) value(p *prop, val []byte) error {
	switch p.kind {
	case isInt:
		return c.integer(p, val)
	case isNum:
		return number(val)
	case isBool:
		if val[0] != 't' && val[0] != 'f' {
			return malformed("", "is %s, must be true or false", typeName(val))
		}
	case isString:
		if val[0] != '"' {
			return malformed("", "is %s, must be a string", typeName(val))
		}
		if p.strs != nil && !slices.Contains(p.strs, text(val)) {
			return malformed("", "is %q, must be one of %s", clip(text(val)), strings.Join(p.strs, ", "))
		}
	case isObject:
		if val[0] != '{' {
			return malformed("", "is %s, must be an object", typeName(val))
		}
		if p.sub != nil {
			return c.object(p.sub, val)
		}
	case isIndexMap:
		return c.indexMap(val)
	case isInts, isNums, isObjects, isMaps:
		return c.array(p, val)
	}
	return nil
}

// array checks the elements of an array.
func (c *checker) array(p *prop, val []byte) (err error) {
	if val[0] != '[' {
		return malformed("", "is %s, must be an array", typeName(val))
	}
	n := 0
	for i, span := range jsonscan.Elements(val, 0) {
		n = i + 1
		e := span.Of(val)
		switch p.kind {
		case isInts:
			err = c.integer(p, e)
		case isNums:
			err = number(e)
		case isObjects:
			err = c.object(p.sub, e)
		case isMaps:
			err = c.indexMap(e)
		}
		if err != nil {
			return at("["+strconv.Itoa(i)+"]", err)
		}
	}
	if p.kind == isNums && p.size != 0 && n != p.size {
		err = malformed("", "has %d numbers, must have %d", n, p.size)
	}
	return err
}

func (c *checker) indexMap(val []byte) error {
	if val[0] != '{' {
		return malformed("", "is %s, must be an object", typeName(val))
	}
	for key, v := range jsonscan.Members(val, 0) {
		if err := c.integer(&prop{}, v.Of(val)); err != nil {
			return at("."+clip(string(key.Text)), err)
		}
	}
	return nil
}

// integer accepts 3, and also 3.0 and 3e0, which some exporters write.
func (c *checker) integer(p *prop, val []byte) error {
	v, whole := wholeNumber(val)
	if !whole {
		return malformed("", "is %s, must be a whole number >= 0", describe(val))
	}
	for _, ch := range val {
		if ch == '.' || ch == 'e' || ch == 'E' {
			c.fractional = true
		}
	}
	if p.ints != nil && !slices.Contains(p.ints, v) {
		return malformed("", "is %d, must be one of %s", v, joinInts(p.ints))
	}
	return nil
}

func joinInts(v []int) string {
	s := make([]string, len(v))
	for i := range v {
		s[i] = strconv.Itoa(v[i])
	}
	return strings.Join(s, ", ")
}

// describe gives a short literal as it is, else its type.
func describe(val []byte) string {
	if len(val) <= 24 && len(val) > 0 && val[0] != '{' && val[0] != '[' {
		return string(val)
	}
	return typeName(val)
}

// wholeNumber parses a JSON number that is a whole number in 0..2^53.
func wholeNumber(val []byte) (int, bool) {
	if len(val) == 0 || val[0] < '0' || val[0] > '9' {
		return 0, false
	}
	if len(val) <= 9 && !bytes.ContainsAny(val, ".eE") {
		v := 0
		for _, ch := range val {
			v = v*10 + int(ch-'0')
		}
		return v, true
	}
	f, err := strconv.ParseFloat(string(val), 64)
	if err != nil || f != math.Trunc(f) || f > min(1<<53, math.MaxInt) {
		return 0, false
	}
	return int(f), true
}

// number refuses what is no number or has no finite double.
func number(val []byte) error {
	if len(val) == 0 || val[0] != '-' && (val[0] < '0' || val[0] > '9') {
		return malformed("", "is %s, must be a number", describe(val))
	}
	if len(val) < 300 && !bytes.ContainsAny(val, "eE") {
		return nil // cannot overflow
	}
	if _, err := strconv.ParseFloat(string(val), 64); err != nil {
		return malformed("", "is %s, which is out of range", describe(val))
	}
	return nil
}

// wholeNumbers rewrites numbers like 3.0 as 3 everywhere in raw, so that
// encoding/json takes them for integers.
func wholeNumbers(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		end := i + 1
		switch ch := raw[i]; {
		case ch == '"':
			end = jsonscan.Skip(raw, i)
		case ch == '-' || ch >= '0' && ch <= '9':
			end = jsonscan.Skip(raw, i)
			if v, ok := wholeNumber(raw[i:end]); ok {
				out = strconv.AppendInt(out, int64(v), 10)
				i = end
				continue
			}
		}
		out = append(out, raw[i:end]...)
		i = end
	}
	return out
}

// decode checks raw against s and decodes it into v.
func (s *schema) decode(raw []byte, v any) error {
	var c checker
	if err := c.object(s, raw); err != nil {
		return err
	}
	if c.fractional {
		raw = wholeNumbers(raw)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return malformed("", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// text decodes a string literal.
func text(lit []byte) string { return string(jsonscan.Text(lit)) }

// typeName names the JSON type of a value, for messages.
func typeName(val []byte) string {
	if len(val) == 0 {
		return "nothing"
	}
	switch val[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// isNull reports whether val is the literal null.
func isNull(val []byte) bool { return len(val) == 4 && val[0] == 'n' }
