package manifest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// ErrNotEncodable is matched by the errors of Encode and Save about values
// that no reader could load: NaN, infinities, numbers beyond single precision
// and payload paths that payloadpath.Check refuses.
var ErrNotEncodable = errors.New("manifest: value cannot be written")

// Save writes the manifest under path, which gets either all of it or is left
// as it was. Write it after the payloads, so that a manifest on disk always
// names complete files.
func (m *Manifest) Save(path string) error {
	return m.saveWith(path, atomicfile.Options{})
}

// saveWith is Save with options for the file.
func (m *Manifest) saveWith(path string, opts atomicfile.Options) error {
	if err := atomicfile.WriteWith(path, opts, m.Encode); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return nil
}

// Encode writes the manifest as UTF-8 JSON that ends in a newline. The keys
// come in the exporter's order, ours among them (see docs/manifest-keys.md),
// indented by two spaces; tiles, lights, cameras and the like take one line
// each. Numbers have the shortest form that reads back as the same value. The
// same manifest always gives the same bytes.
//
// It refuses with ErrNotEncodable what no reader could load. It does not
// judge the rest; see Validate.
func (m *Manifest) Encode(w io.Writer) error {
	e := &encoder{w: w}
	e.manifest(m)
	e.flush()
	return e.err
}

// flushAt is how many bytes the encoder gathers before it writes them.
const flushAt = 64 << 10

// encoder appends JSON to buf and writes it out now and then. After a failure
// it goes on without effect; err is the first one.
type encoder struct {
	w     io.Writer
	buf   []byte
	err   error
	where string // the entry that is being written, for messages
}

func (e *encoder) flush() {
	if e.err == nil && e.w != nil {
		if _, err := e.w.Write(e.buf); err != nil {
			e.err = err
		}
		e.buf = e.buf[:0]
	}
}

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%w: %s: %s", ErrNotEncodable, e.where, fmt.Sprintf(format, args...))
	}
}

// comma separates what follows from an earlier member or element.
func (e *encoder) comma() {
	if n := len(e.buf); n > 0 && e.buf[n-1] != '{' && e.buf[n-1] != '[' {
		e.buf = append(e.buf, ", "...)
	}
}

// key starts a member of an object that is written on one line. The key must
// need no escapes.
func (e *encoder) key(name string) *encoder {
	e.comma()
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, `": `...)
	return e
}

// line starts a member of an object that is written on several lines.
func (e *encoder) line(indent, name string) *encoder {
	if n := len(e.buf); n > 0 && e.buf[n-1] != '{' {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, '\n')
	e.buf = append(e.buf, indent...)
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, `": `...)
	return e
}

func (e *encoder) open(c byte) { e.buf = append(e.buf, c) }

func (e *encoder) raw(text string) { e.buf = append(e.buf, text...) }

func (e *encoder) boolean(v bool) { e.buf = strconv.AppendBool(e.buf, v) }

func (e *encoder) integer(v int) { e.buf = strconv.AppendInt(e.buf, int64(v), 10) }

func (e *encoder) int64(v int64) { e.buf = strconv.AppendInt(e.buf, v, 10) }

// float writes the shortest form that reads back as v.
func (e *encoder) float(v float64) {
	if !(math.Abs(v) <= math.MaxFloat32) {
		e.fail("the number %v has no place in a manifest: all are finite and at most 3.4e38", v)
		v = 0
	}
	if v == 0 {
		v = 0 // no negative zero
		e.buf = append(e.buf, '0')
		return
	}
	if a := math.Abs(v); a >= 1e-6 && a < 1e21 {
		e.buf = strconv.AppendFloat(e.buf, v, 'f', -1, 64)
		return
	}
	e.buf = strconv.AppendFloat(e.buf, v, 'e', -1, 64)
}

// vector writes an array of numbers.
func (e *encoder) vector(v ...float64) {
	e.open('[')
	for _, x := range v {
		e.comma()
		e.float(x)
	}
	e.open(']')
}

func (e *encoder) vec3(v *[3]float64) { e.vector(v[0], v[1], v[2]) }

const hexDigits = "0123456789abcdef"

// str writes a string. Bytes that are no UTF-8 become U+FFFD.
func (e *encoder) str(v string) {
	b := append(e.buf, '"')
	from := 0
	for i := 0; i < len(v); {
		c := v[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(v[i:])
			// JavaScript takes U+2028 and U+2029 for line ends.
			if !(r == utf8.RuneError && size == 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		b = append(b, v[from:i]...)
		b = appendEscape(b, v[i:i+size])
		i += size
		from = i
	}
	b = append(b, v[from:]...)
	e.buf = append(b, '"')
}

// appendEscape escapes one character of str.
func appendEscape(b []byte, char string) []byte {
	switch char[0] {
	case '"', '\\':
		return append(b, '\\', char[0])
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	if char[0] < 0x20 {
		return append(b, '\\', 'u', '0', '0', hexDigits[char[0]>>4], hexDigits[char[0]&15])
	}
	switch char {
	case "\u2028":
		return append(b, `\u2028`...)
	case "\u2029":
		return append(b, `\u2029`...)
	}
	return append(b, "\uFFFD"...)
}

// strOrNull writes a string or null.
func (e *encoder) strOrNull(v *string) {
	if v == nil {
		e.raw("null")
		return
	}
	e.str(*v)
}

// strs writes an array of strings.
func (e *encoder) strs(v []string) {
	e.open('[')
	for _, x := range v {
		e.comma()
		e.str(x)
	}
	e.open(']')
}

// path writes a payload path. Readers refuse one that payloadpath.Check refuses.
func (e *encoder) path(v string) {
	if err := payloadpath.Check(v); err != nil && e.err == nil {
		e.err = fmt.Errorf("%w: %s: %w", ErrNotEncodable, e.where, err)
	}
	e.str(v)
}

// object writes an object on one line.
func (e *encoder) object(members func()) {
	e.open('{')
	members()
	e.open('}')
}

// each writes an array on one line.
func each[T any](e *encoder, v []T, write func(*T)) {
	e.open('[')
	for i := range v {
		e.comma()
		write(&v[i])
	}
	e.open(']')
}

// lines writes an array with one line for each element.
func lines[T any](e *encoder, indent string, v []T, write func(*T)) {
	e.open('[')
	for i := range v {
		if i > 0 {
			e.open(',')
		}
		e.raw("\n  " + indent)
		write(&v[i])
		if len(e.buf) >= flushAt {
			e.flush()
			if e.err != nil {
				return
			}
		}
	}
	if len(v) > 0 {
		e.raw("\n" + indent)
	}
	e.open(']')
}

// unique returns the entries without those whose name came before: a JSON
// object has one value per key.
func unique[T any](v []T, name func(*T) string) []T {
	seen := make(map[string]bool, len(v))
	out := make([]T, 0, len(v))
	for i := range v {
		// Names that differ only in invalid bytes become the same key.
		n := strings.ToValidUTF8(name(&v[i]), "\uFFFD")
		if !seen[n] {
			seen[n] = true
			out = append(out, v[i])
		}
	}
	return out
}
