package layer

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// longArray is how many bytes a list of numbers may have to be read at once.
const longArray = 256

// typed reads the value of an attribute of a type, or what reads it.
func (t *text) typed(typ string) (Value, func() (Value, error), error) {
	if t.keyword("None") || t.keyword("AnimationBlock") {
		return nil, nil, nil
	}
	base, array := strings.CutSuffix(typ, "[]")
	k := kinds[base]
	switch {
	case k.base == 0 || k.base == 's' || k.base == 't' || k.base == 'a':
		v, err := t.value()
		if s, ok := v.(string); ok && k.base == 't' {
			v = Token(s)
		}
		return v, nil, err
	case k.base == 'b' && !array:
		v, err := t.value()
		if n, ok := v.(int64); ok {
			v = n != 0
		}
		return v, nil, err
	case array:
		line := t.line
		body, err := t.brackets()
		if err != nil {
			return nil, nil, err
		}
		get := func() (Value, error) { return numbers(body, line, k, true) }
		if len(body) > longArray {
			return nil, get, nil
		}
		v, err := get()
		return v, nil, err
	case k.width > 1:
		line, from := t.line, t.at
		if _, err := t.value(); err != nil { // finds the end
			return nil, nil, err
		}
		v, err := numbers(t.data[from:t.at], line, k, false)
		return v, nil, err
	}
	t.next()
	from := t.at
	v, err := t.number()
	if err != nil {
		return nil, nil, err
	}
	if k.base == 'i' {
		word := string(t.data[from:t.at])
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			return n, nil, nil
		}
		if strings.Trim(word, "-0123456789") == "" { // of 64 bits without a sign, or beyond
			return nil, nil, nil
		}
		if v != math.Floor(v) || v < -(1<<53) || v > 1<<53 {
			return nil, nil, t.fail("a whole number is expected")
		}
		return int64(v), nil, nil
	}
	if k.base == 'f' { // as crates have it
		v = float64(float32(v))
	}
	return v, nil, nil
}

// brackets takes what stands between [ and ], without lists within it.
func (t *text) brackets() ([]byte, error) {
	if err := t.expect('['); err != nil {
		return nil, err
	}
	from := t.at
	for t.at < len(t.data) {
		switch t.data[t.at] {
		case ']':
			t.at++
			return t.data[from : t.at-1 : t.at-1], nil
		case '\n':
			t.line++
		case '#':
			i := bytes.IndexByte(t.data[t.at:], '\n')
			if i < 0 {
				i = len(t.data) - t.at
			}
			t.at += i
			continue
		}
		t.at++
	}
	return nil, t.wanted("]")
}

// numbers reads numbers of elements of a kind, however they are parenthesized.
func numbers(data []byte, line int, k kind, array bool) (Value, error) {
	t := &text{data: data, line: line}
	out := &Numbers{Width: k.width, Array: array}
	most := (len(data) + 1) / 2
	switch k.base {
	case 'f':
		out.F32 = make([]float32, 0, min(most, 1<<16))
	case 'd':
		out.F64 = make([]float64, 0, min(most, 1<<16))
	default:
		out.Int = make([]int64, 0, min(most, 1<<16))
	}
	for {
		c := t.next()
		for c == ',' || c == '(' || c == ')' {
			t.at++
			c = t.next()
		}
		if c == 0 && t.at >= len(t.data) {
			break
		}
		w := t.literal()
		switch k.base {
		case 'f', 'd':
			v, ok := parseFloat(w)
			if !ok {
				return nil, t.fail("%q is no number", clip(string(w)))
			}
			if k.base == 'f' {
				out.F32 = append(out.F32, float32(v))
			} else {
				out.F64 = append(out.F64, v)
			}
		default:
			v, err := strconv.ParseInt(string(w), 10, 64)
			if s := string(w); s == "true" || s == "false" {
				if err = nil; s == "true" {
					v = 1
				}
			}
			if err != nil {
				return nil, t.fail("%q is no whole number", clip(string(w)))
			}
			out.Int = append(out.Int, v)
		}
	}
	if n := out.Flat(); n%k.width != 0 || !array && n != k.width {
		return nil, t.fail("there are %d numbers for elements of %d", n, k.width)
	}
	return out, nil
}

// literal takes the letters of a number.
func (t *text) literal() []byte {
	from := t.at
	for t.at < len(t.data) {
		if c := t.data[t.at]; !isWord(c) && c != '.' && c != '-' && c != '+' || c == ':' {
			break
		}
		t.at++
	}
	if t.at == from && t.at < len(t.data) {
		t.at++
	}
	return t.data[from:t.at]
}

func parseFloat(w []byte) (float64, bool) {
	if bytes.ContainsAny(w, "_xXpP") { // which Go has and USD has not
		return 0, false
	}
	v, err := strconv.ParseFloat(string(w), 64)
	return v, err == nil || v != 0 && math.IsInf(v, 0)
}

func (t *text) number() (float64, error) {
	t.next()
	at := t.at
	v, ok := parseFloat(t.literal())
	if !ok {
		t.at = at
		return 0, t.wanted("a number")
	}
	return v, nil
}

// whole reads a whole number.
func (t *text) whole() (int64, error) {
	t.next()
	at := t.at
	v, err := strconv.ParseInt(string(t.literal()), 10, 64)
	if err != nil {
		t.at = at
		return 0, t.wanted("a whole number")
	}
	return v, nil
}

// value reads a value of any type by its form.
func (t *text) value() (Value, error) {
	if err := t.tick(); err != nil {
		return nil, err
	}
	switch c := t.next(); c {
	case '"', '\'':
		return t.quoted()
	case '@':
		s, err := t.asset()
		return Asset(s), err
	case '<':
		s, err := t.path()
		return Path(s), err
	case '{':
		return t.dict()
	case '(':
		return t.list('(', ')')
	case '[':
		return t.list('[', ']')
	default:
		if c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9' {
			at := t.at
			w := t.literal()
			if v, err := strconv.ParseInt(string(w), 10, 64); err == nil {
				return v, nil
			}
			if v, ok := parseFloat(w); ok {
				return v, nil
			}
			t.at = at
			return nil, t.wanted("a number")
		}
	}
	switch w := t.word(); w {
	case "":
		return nil, t.wanted("a value")
	case "None":
		return nil, nil
	case "true", "false":
		return w == "true", nil
	case "inf", "nan":
		v, _ := parseFloat([]byte(w))
		return v, nil
	default:
		return Token(w), nil
	}
}

// list reads a tuple or a list: of numbers, texts, files or paths. What it cannot hold
// together is nil.
func (t *text) list(open, end byte) (Value, error) {
	done, err := t.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	if err := t.expect(open); err != nil {
		return nil, err
	}
	out := &Numbers{Width: 1, Array: open == '[', F64: []float64{}}
	var words []string
	var assets []Asset
	var paths []Path
	n, odd := 0, false
	for !t.is(end) {
		v, err := t.value()
		if err != nil {
			return nil, err
		}
		n++
		switch v := v.(type) {
		case int64:
			out.F64 = append(out.F64, float64(v))
		case float64:
			out.F64 = append(out.F64, v)
		case bool:
			odd = true
		case string:
			words = append(words, v)
		case Token:
			words = append(words, string(v))
		case Asset:
			assets = append(assets, v)
		case Path:
			paths = append(paths, v)
		case *Numbers:
			if n == 1 {
				out.Width = v.Flat()
			}
			odd = odd || v.Flat() != out.Width
			for i := range v.Flat() {
				out.F64 = append(out.F64, v.At(i))
			}
		default:
			odd = true
		}
		t.is(',')
	}
	switch {
	case odd:
		return nil, nil
	case n > 0 && len(words) == n:
		return words, nil
	case n > 0 && len(assets) == n:
		return assets, nil
	case n > 0 && len(paths) == n:
		return paths, nil
	}
	if open == '(' {
		out.Width = len(out.F64)
	}
	return out, nil
}

// dict reads a dictionary.
func (t *text) dict() (Dict, error) {
	done, err := t.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	if err := t.expect('{'); err != nil {
		return nil, err
	}
	out := Dict{}
	for !t.is('}') {
		typ := t.word()
		if t.is('[') {
			if err := t.expect(']'); err != nil {
				return nil, err
			}
			typ += "[]"
		}
		name := ""
		if c := t.next(); c == '"' || c == '\'' {
			if name, err = t.quoted(); err != nil {
				return nil, err
			}
		} else {
			name = t.word()
		}
		if typ == "" || name == "" {
			return nil, t.wanted("a type and a name")
		}
		if err := t.expect('='); err != nil {
			return nil, err
		}
		var v Value
		if typ == "dictionary" {
			v, err = t.dict()
		} else {
			var lazy func() (Value, error)
			if v, lazy, err = t.typed(typ); err == nil && lazy != nil {
				v, err = lazy()
			}
		}
		if err != nil {
			return nil, err
		}
		out[name] = v
		t.is(',')
	}
	return out, nil
}
