package meshfile

import (
	"io"
	"os"

	"github.com/untoldkit/untold/cook/internal/gltfdoc"
	"github.com/untoldkit/untold/internal/scratch"
)

// scratchPrefix begins the names of temporary files.
const scratchPrefix = "untold-mesh-"

// pageBytes is about how much of a column is read at a time.
const pageBytes = 4 << 10

// column is a list of records of one width, which lies in memory as long as it is short
// and in a temporary file then. Records are added first, and read after seal.
type column struct {
	width int
	limit int64 // bytes in memory: of records, or of pages
	n     int64 // records

	mem     []byte // all, or those that wait to be written
	file    *os.File
	written int64

	perPage int64 // records
	pages   []page
}

// page is a part of the file, in the only slot that it may have.
type page struct {
	number int64 // from 1, 0 for an empty slot
	dirty  bool
	data   []byte
}

func newColumn(width int, limit int64) *column { return &column{width: width, limit: limit} }

// zeroColumn returns a column of n records of zeros, which are changed in place.
func zeroColumn(width int, n, limit int64) (*column, error) {
	c := &column{width: width, limit: limit, n: n}
	size := n * int64(width)
	if size <= limit {
		c.mem = make([]byte, size)
		return c, nil
	}
	var err error
	if c.file, err = scratch.File(scratchPrefix); err != nil {
		return nil, gltfdoc.Working(err)
	}
	if err := c.file.Truncate(size); err != nil {
		return nil, gltfdoc.Working(err)
	}
	c.written = size
	c.paged()
	return c, nil
}

// add returns the bytes of another record, to be filled before the next call.
func (c *column) add() ([]byte, error) {
	if c.file != nil && len(c.mem)+c.width > cap(c.mem) || c.file == nil && int64(len(c.mem)+c.width) > c.limit {
		if err := c.flush(); err != nil {
			return nil, err
		}
	}
	c.n++
	at := len(c.mem)
	if at+c.width <= cap(c.mem) {
		c.mem = c.mem[:at+c.width]
	} else {
		c.mem = append(c.mem, make([]byte, c.width)...)
	}
	return c.mem[at:], nil
}

// flush writes what is in memory.
func (c *column) flush() error {
	if c.file == nil {
		var err error
		if c.file, err = scratch.File(scratchPrefix); err != nil {
			return gltfdoc.Working(err)
		}
	}
	if _, err := c.file.WriteAt(c.mem, c.written); err != nil {
		return gltfdoc.Working(err)
	}
	c.written += int64(len(c.mem))
	if cap(c.mem) > 1<<20 || cap(c.mem) < 1<<16 {
		c.mem = make([]byte, 0, 256<<10)
	}
	c.mem = c.mem[:0]
	return nil
}

// seal ends the adding.
func (c *column) seal() error {
	if c.file == nil {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	c.mem = nil
	c.paged()
	return nil
}

func (c *column) paged() {
	c.perPage = int64(max(1, pageBytes/c.width))
	c.pages = make([]page, max(8, 2*c.limit/(c.perPage*int64(c.width))))
}

// at returns record i, which is good until the next call.
func (c *column) at(i int64) ([]byte, error) {
	if c.file == nil {
		return c.mem[i*int64(c.width):][:c.width], nil
	}
	p, err := c.page(i / c.perPage)
	if err != nil {
		return nil, err
	}
	return p.data[i%c.perPage*int64(c.width):][:c.width], nil
}

// change returns record i, which the caller changes before the next call.
func (c *column) change(i int64) ([]byte, error) {
	if c.file == nil {
		return c.at(i)
	}
	p, err := c.page(i / c.perPage)
	if err != nil {
		return nil, err
	}
	p.dirty = true
	return p.data[i%c.perPage*int64(c.width):][:c.width], nil
}

// page brings a page into its slot.
func (c *column) page(number int64) (*page, error) {
	p := &c.pages[number%int64(len(c.pages))]
	if p.number == number+1 {
		return p, nil
	}
	bytes := c.perPage * int64(c.width)
	if p.dirty {
		if _, err := c.file.WriteAt(p.data, (p.number-1)*bytes); err != nil {
			return nil, gltfdoc.Working(err)
		}
	}
	p.number, p.dirty = 0, false
	if p.data == nil {
		p.data = make([]byte, bytes)
	}
	p.data = p.data[:min(bytes, c.written-number*bytes)]
	if _, err := c.file.ReadAt(p.data, number*bytes); err != nil && err != io.EOF {
		return nil, gltfdoc.Working(err)
	}
	p.number = number + 1
	return p, nil
}

// drop lets go of all of it.
func (c *column) drop() {
	if c != nil && c.file != nil {
		scratch.Close(c.file)
	}
	if c != nil {
		c.mem, c.file, c.pages = nil, nil, nil
	}
}

// stream is a list of bytes, kept like a column, that is read from any place on.
type stream struct{ column }

func newStream(limit int64) *stream { return &stream{column{width: 1, limit: limit}} }

// write appends bytes, which are few.
func (s *stream) write(b []byte) error {
	if s.file != nil && len(s.mem)+len(b) > cap(s.mem) || s.file == nil && int64(len(s.mem)+len(b)) > s.limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.mem = append(s.mem, b...)
	s.n += int64(len(b))
	return nil
}

// seal ends the writing.
func (s *stream) seal() error {
	if s.file == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.mem = nil
	return nil
}

// ReadAt reads bytes after seal.
func (s *stream) ReadAt(b []byte, off int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(b, off)
	}
	n := copy(b, s.mem[min(off, int64(len(s.mem))):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
