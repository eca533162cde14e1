package meshfile

import (
	"bytes"
	"io"
)

// maxLine is the longest line that is read, with its continuations, in bytes. A face of
// 65,536 corners fits.
const maxLine = 4 << 20

// lines reads a text line by line. Lines end with LF, CR LF or, in files that have no LF,
// CR. A backslash at the end continues a line with the next.
type lines struct {
	r          io.Reader
	buf        []byte
	start, end int
	eof, begun bool
	eol        byte
	number     int // of the line that next has returned, from 1
	following  int
	continued  bool // backslashes continue lines
}

func newLines(r io.Reader, continued bool) *lines {
	return &lines{r: r, buf: make([]byte, 256<<10), following: 1, eol: '\n', continued: continued}
}

// next returns a line without its end, which is good until the next call; io.EOF after
// the last.
func (l *lines) next() ([]byte, error) {
	l.number = l.following
	if !l.begun {
		l.begun = true
		if err := l.fill(); err != nil {
			return nil, err
		}
		if head := l.buf[:l.end]; bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0 {
			l.eol = '\r'
		}
	}
	for from := l.start; ; {
		i := bytes.IndexByte(l.buf[from:l.end], l.eol)
		if i < 0 {
			if l.eof {
				line := l.buf[l.start:l.end]
				l.start = l.end
				if len(line) == 0 {
					return nil, io.EOF
				}
				l.following++
				return bytes.TrimSuffix(line, []byte{'\r'}), nil
			}
			if l.end-l.start > maxLine {
				return nil, malformed(line(l.number), "is longer than %d bytes", maxLine)
			}
			from = l.end - l.start
			if err := l.fill(); err != nil {
				return nil, err
			}
			from += l.start
			continue
		}
		at := from + i
		end := at
		if end > l.start && l.buf[end-1] == '\r' {
			end--
		}
		l.following++
		if l.continued && end > l.start && l.buf[end-1] == '\\' {
			for k := end - 1; k <= at; k++ {
				l.buf[k] = ' '
			}
			from = at + 1
			continue
		}
		line := l.buf[l.start:end]
		l.start = at + 1
		return line, nil
	}
}

// fill reads more, behind what is there.
func (l *lines) fill() error {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if err == io.EOF {
		l.eof = true
		return nil
	}
	return err
}

// isSpace tells what separates words.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }

// word cuts the first word off a line.
func word(b []byte) (w, rest []byte) {
	i := 0
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	k := i
	for k < len(b) && !isSpace(b[k]) {
		k++
	}
	return b[i:k], b[k:]
}

// trim takes the space off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}
