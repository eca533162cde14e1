package layer

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/bom"
)

// textMagic begins every layer of text.
const textMagic = "#usda "

// text reads a layer of text.
type text struct {
	data  []byte
	at    int
	line  int
	depth int
	ctx   context.Context // nil within a list
	work  int

	memory, taken int64 // bytes that prims may and do take
}

// ParseText reads a layer of text. data must not change afterwards: long lists of numbers
// stay there. memory limits, in bytes, what the tree may take. The error is an *Error, or
// ctx's.
func ParseText(ctx context.Context, data []byte, memory int64) (*Layer, error) {
	data = bom.Trim(data)
	if !bytes.HasPrefix(data, []byte(textMagic)) {
		return nil, malformed("line 1", "does not begin with %q", textMagic+"1.0")
	}
	t := &text{data: data, line: 1, ctx: ctx, memory: memory}
	l := &Layer{Meta: map[string]Value{}, Root: &Prim{}}
	if t.next() == '(' {
		if err := t.metadata(l.Root); err != nil {
			return nil, err
		}
		for k, v := range l.Root.Meta {
			l.Meta[k] = v
		}
		if list, ok := l.Root.Meta["subLayers"].([]Asset); ok {
			for _, a := range list {
				l.SubLayers = append(l.SubLayers, string(a))
			}
		}
	}
	if err := t.body(l.Root, true); err != nil {
		return nil, err
	}
	l.Bytes = t.taken
	return l, nil
}

func (t *text) place() string { return fmt.Sprintf("line %d", t.line) }

func (t *text) fail(format string, args ...any) error {
	return malformed(t.place(), format, args...)
}

// wanted is fail for something that is not there.
func (t *text) wanted(what string) error {
	if t.at >= len(t.data) {
		return t.fail("the file ends where %s is expected", what)
	}
	end := min(t.at+20, len(t.data))
	if i := bytes.IndexAny(t.data[t.at:end], "\r\n"); i >= 0 {
		end = t.at + i
	}
	return t.fail("%s is expected, not %q", what, t.data[t.at:end])
}

// next skips what separates words, and returns the next byte; 0 at the end.
func (t *text) next() byte {
	for t.at < len(t.data) {
		switch c := t.data[t.at]; {
		case c == '\n':
			t.line++
			t.at++
		case c == ' ' || c == '\t' || c == '\r' || c == ';':
			t.at++
		case c == '#', c == '/' && bytes.HasPrefix(t.data[t.at:], []byte("//")):
			if i := bytes.IndexByte(t.data[t.at:], '\n'); i >= 0 {
				t.at += i
			} else {
				t.at = len(t.data)
			}
		case c == '/' && bytes.HasPrefix(t.data[t.at:], []byte("/*")):
			i := bytes.Index(t.data[t.at:], []byte("*/"))
			if i < 0 {
				i = len(t.data) - t.at - 2
			}
			t.line += bytes.Count(t.data[t.at:t.at+i], []byte{'\n'})
			t.at += i + 2
		default:
			return c
		}
	}
	return 0
}

// is takes a byte, if it is the next one.
func (t *text) is(c byte) bool {
	if t.next() != c || t.at >= len(t.data) {
		return false
	}
	t.at++
	return true
}

func (t *text) expect(c byte) error {
	if t.is(c) {
		return nil
	}
	return t.wanted(fmt.Sprintf("%q", string(c)))
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c >= utf8.RuneSelf
}

// word takes a word; "" where there is none.
func (t *text) word() string {
	t.next()
	from := t.at
	for t.at < len(t.data) && isWord(t.data[t.at]) {
		t.at++
	}
	return string(t.data[from:t.at])
}

// peek returns the next word without taking it.
func (t *text) peek() string {
	t.next()
	at := t.at
	w := t.word()
	t.at = at
	return w
}

// keyword takes a word if it is the next one.
func (t *text) keyword(w string) bool {
	if t.peek() != w {
		return false
	}
	t.at += len(w)
	return true
}

// quoted takes a text in quotes.
func (t *text) quoted() (string, error) {
	q := t.next()
	if q != '"' && q != '\'' {
		return "", t.wanted("a text in quotes")
	}
	end := string(q)
	if triple := strings.Repeat(end, 3); bytes.HasPrefix(t.data[t.at:], []byte(triple)) {
		end = triple
	}
	t.at += len(end)
	var out []byte
	for {
		rest := t.data[t.at:]
		if len(rest) == 0 {
			return "", t.fail("a text has no end")
		}
		switch {
		case bytes.HasPrefix(rest, []byte(end)):
			t.at += len(end)
			return string(out), nil
		case rest[0] == '\\' && len(rest) > 1:
			n := 2
			switch c := rest[1]; c {
			case 'n':
				out = append(out, '\n')
			case 't':
				out = append(out, '\t')
			case 'r':
				out = append(out, '\r')
			case '\n':
				t.line++
				out = append(out, c)
			case 'x':
				v, k := hex(rest[2:])
				n += k
				out = append(out, v)
			default:
				out = append(out, c)
			}
			t.at += n
		case rest[0] == '\n' && len(end) == 1:
			return "", t.fail("a text has no end on its line")
		default:
			if rest[0] == '\n' {
				t.line++
			}
			out = append(out, rest[0])
			t.at++
		}
	}
}

// hex reads up to two hexadecimal digits.
func hex(b []byte) (v byte, n int) {
	for n < 2 && n < len(b) {
		c := b[n] | 0x20
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | (c - '0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | (c - 'a' + 10)
		default:
			return v, n
		}
		n++
	}
	return v, n
}

// asset takes the name of a file between @ and @, or @@@ and @@@.
func (t *text) asset() (string, error) {
	if t.next() != '@' {
		return "", t.wanted("@the name of a file@")
	}
	end := "@"
	if bytes.HasPrefix(t.data[t.at:], []byte("@@@")) {
		end = "@@@"
	}
	t.at += len(end)
	i := bytes.Index(t.data[t.at:], []byte(end))
	if i < 0 {
		return "", t.fail("the name of a file has no end")
	}
	for end == "@@@" && i > 0 && t.data[t.at+i-1] == '\\' {
		j := bytes.Index(t.data[t.at+i+1:], []byte(end))
		if j < 0 {
			return "", t.fail("the name of a file has no end")
		}
		i += 1 + j
	}
	// One may end with @ before the end.
	for end == "@@@" && t.at+i+3 < len(t.data) && t.data[t.at+i+3] == '@' {
		i++
	}
	name := string(t.data[t.at : t.at+i])
	t.at += i + len(end)
	if len(name) > maxName || strings.ContainsAny(name, "\n\x00") {
		return "", t.fail("the name of a file is too long, or has characters that none may have")
	}
	return strings.ReplaceAll(name, `\@@@`, "@@@"), nil
}

// path takes <the path of a prim or a property>; "" for <>.
func (t *text) path() (string, error) {
	if t.next() != '<' {
		return "", t.wanted("<a path>")
	}
	i := bytes.IndexByte(t.data[t.at:], '>')
	if i < 0 || i > maxName {
		return "", t.fail("a path has no end")
	}
	p := string(t.data[t.at+1 : t.at+i])
	if strings.Contains(p, "\n") {
		return "", t.fail("a path has no end on its line")
	}
	t.at += i + 1
	return strings.TrimSpace(p), nil
}

// tick counts what is read, and returns the error of a context that is over.
func (t *text) tick() error {
	if t.work++; t.work%checkEvery == 0 && t.ctx != nil {
		return t.ctx.Err()
	}
	return nil
}

// charge counts bytes that the tree takes.
func (t *text) charge(n int64) error {
	if t.taken += n; t.taken > t.memory {
		return &Error{Place: t.place(), Reason: fmt.Sprintf("its prims take more than %d bytes", t.memory), Err: ErrTooLarge}
	}
	return nil
}

// deeper counts what nests; the result ends it.
func (t *text) deeper() (func(), error) {
	if t.depth++; t.depth > maxDepth {
		return nil, t.fail("nests more than %d levels", maxDepth)
	}
	return func() { t.depth-- }, nil
}
