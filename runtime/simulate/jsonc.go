package simulate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/jsonscan"
)

const (
	// MaxBytes is the longest scenario or camera path that is read.
	MaxBytes = 16 << 20
	// maxValues bounds the values in a file, each of which takes some 20 times
	// the memory of its shortest text: two bytes.
	maxValues = 1 << 21
	maxDepth  = 64
)

// SyntaxError says what a scenario or camera path file breaks, and where.
type SyntaxError struct {
	Line, Column int    // from 1; the column counts bytes
	Path         string // of the value, such as scene.tiles[3].bounds; "" at the top
	Message      string
	Hint         string // what to do, may be empty
}

// Error returns one line.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	if e.Path != "" {
		s += e.Path + ": "
	}
	s += e.Message
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// node is one JSON value and where it stands in the text.
type node struct {
	kind  byte  // one of { [ " 0 t f n, as a value begins; 0 stands for a number
	start int32 // offsets in the text
	end   int32
	text  string // of a string, unescaped; of a number, as written
	*children
}

// children are what an object or array holds; other values share an empty one.
type children struct {
	names []name // members of an object, in order
	items []node // values of an object's members, or elements of an array
}

var childless = &children{}

type name struct {
	text string
	pos  int32
}

// member returns an object's value of a key, nil when absent.
func (n *node) member(key string) *node {
	for i := range n.names {
		if n.names[i].text == key {
			return &n.items[i]
		}
	}
	return nil
}

// describe names a value for a message.
func (n *node) describe() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "the text " + clip(strconv.Quote(n.text))
	case '0':
		return "the number " + clip(n.text)
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return "null"
}

// clip shortens what a message quotes.
func clip(s string) string { return human.Clip(s, 60) }

// parser reads JSON with // comments. A failure is kept in err and ends it.
type parser struct {
	data   []byte
	pos    int
	depth  int
	values int
	err    *SyntaxError

	// What is read of the lists that are open, so that each list takes its
	// length and no more in the end.
	names []name
	items []node
}

// parse reads a whole text.
func parse(data []byte) (*node, error) {
	p := &parser{data: data}
	if len(data) > MaxBytes {
		p.fail(0, fmt.Sprintf("the file has %d bytes, more than %d", len(data), MaxBytes), "name a manifest for large scenes")
		return nil, p.err
	}
	p.data = bom.Trim(p.data)
	if bad := jsonscan.NotUTF8(p.data); bad >= 0 {
		p.fail(bad, "the text is not UTF-8", "")
		return nil, p.err
	}
	var n node
	p.value(&n)
	if p.err == nil && p.space() != 0 {
		p.fail(p.pos, "more text behind the end of the object", "")
	}
	if p.err != nil {
		return nil, p.err
	}
	return &n, nil
}

func (p *parser) fail(pos int, message, hint string) {
	if p.err != nil {
		return
	}
	line, column := place(p.data, pos)
	p.err = &SyntaxError{Line: line, Column: column, Message: message, Hint: hint}
}

// place turns an offset into a line and a column.
func place(data []byte, pos int) (line, column int) {
	before := data[:min(pos, len(data))]
	return 1 + bytes.Count(before, []byte{'\n'}), len(before) - bytes.LastIndexByte(before, '\n')
}

// space skips white space and comments and returns the next byte, 0 at the end.
func (p *parser) space() byte {
	for {
		p.pos = jsonscan.Space(p.data, p.pos)
		if p.pos >= len(p.data) {
			return 0
		}
		switch c := p.data[p.pos]; {
		case c == 0:
			p.fail(p.pos, "a NUL byte", "")
			return 0
		case c != '/':
			return c
		case !bytes.HasPrefix(p.data[p.pos:], []byte("//")):
			p.fail(p.pos, "a stray /", "comments begin with // and end with the line")
			return '/'
		}
		end := bytes.IndexByte(p.data[p.pos:], '\n')
		if end < 0 {
			end = len(p.data) - p.pos
		}
		p.pos += end
	}
}

// value reads one value of any kind.
func (p *parser) value(n *node) {
	c := p.space()
	n.start, n.children = int32(p.pos), childless
	if p.values++; p.values > maxValues {
		p.fail(p.pos, fmt.Sprintf("the file has more than %d values", maxValues), "name a manifest for large scenes, and give paths fewer keys")
	}
	switch {
	case p.err != nil:
	case c == '{' || c == '[':
		if p.depth++; p.depth > maxDepth {
			p.fail(p.pos, fmt.Sprintf("nested deeper than %d", maxDepth), "")
			return
		}
		p.list(n, c)
		p.depth--
	case c == '"':
		n.kind, n.text = '"', p.str()
	case c == '-' || c >= '0' && c <= '9':
		n.kind, n.text = '0', p.number()
	default:
		if w := jsonscan.Word(p.data, p.pos); w != "" {
			n.kind = w[0]
			p.pos += len(w)
		} else {
			p.unexpected("a value")
		}
	}
	n.end = int32(p.pos)
}

func (p *parser) unexpected(want string) {
	if p.pos >= len(p.data) {
		p.fail(p.pos, "the text ends where "+want+" should stand", "is it cut off?")
		return
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	hint := ""
	if r == '}' || r == ']' {
		hint = "is there a comma before it?"
	}
	p.fail(p.pos, fmt.Sprintf("%q where %s should stand", r, want), hint)
}

// list reads an object or array whose first byte is open.
func (p *parser) list(n *node, open byte) {
	n.kind, n.children = open, &children{}
	names, items := len(p.names), len(p.items)
	defer func() {
		n.names, n.items = slices.Clone(p.names[names:]), slices.Clone(p.items[items:])
		p.names, p.items = p.names[:names], p.items[:items]
	}()
	p.pos++
	last := open + 2 // in ASCII both closing brackets come two behind
	for first := true; p.err == nil; first = false {
		c := p.space()
		if first && c == last {
			p.pos++
			return
		}
		if open == '{' {
			if c != '"' {
				p.unexpected(`a key in quotes`)
				return
			}
			key := name{pos: int32(p.pos)}
			if key.text = p.str(); p.err == nil && p.space() != ':' {
				p.unexpected("a colon")
				return
			}
			p.pos++
			p.names = append(p.names, key)
		}
		var item node
		p.value(&item)
		p.items = append(p.items, item)
		if p.err != nil {
			return
		}
		switch c := p.space(); c {
		case ',':
			p.pos++
		case last:
			p.pos++
			return
		default:
			p.unexpected("a comma or " + strconv.QuoteRune(rune(last)))
		}
	}
}

// str reads a string literal.
func (p *parser) str() string {
	start := p.pos
	l := jsonscan.String(p.data, start)
	switch p.pos = l.End; {
	case l.Control:
		p.fail(l.End, "a control character in a string", "is a quote missing?")
		return ""
	case l.Open:
		p.fail(start, "a string without an end", "")
		return ""
	}
	s, ok := jsonscan.Unquote(p.data[start:l.End])
	if !ok {
		p.fail(start, "a string with a wrong escape", `legal are \" \\ \/ \b \f \n \r \t \uXXXX`)
	}
	return s
}

// number reads a number literal of JSON.
func (p *parser) number() string {
	start := p.pos
	end, _, ok := jsonscan.Number(p.data, start)
	if !ok {
		p.fail(start, "a malformed number", "")
	}
	p.pos = end
	return string(p.data[start:end])
}
