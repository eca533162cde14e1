package meshfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/bom"
)

// The parts of a binary STL file, in bytes.
const (
	stlHeader = 80
	stlFacet  = 50
)

// readSTL tells text from binary, which may begin with the word of texts, by its size.
func readSTL(s *soup, in io.ReadSeeker, size int64) error {
	head := make([]byte, min(size, 512))
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s.want.smooth = flat
	text := bytes.HasPrefix(bytes.TrimLeft(head, bom.UTF8+" \t\r\n"), []byte("solid"))
	if len(head) < stlHeader+4 {
		if text {
			return readTextSTL(s, in)
		}
		return malformed("", "has %d bytes; a binary STL file has %d before the first facet, and a text begins with \"solid\"", size, stlHeader+4)
	}
	n := int64(binary.LittleEndian.Uint32(head[stlHeader:]))
	need := stlHeader + 4 + n*stlFacet
	switch {
	case size == need:
	case text && (bytes.IndexByte(head, 0) < 0 || size < need):
		return readTextSTL(s, in)
	case size < need:
		return malformed("byte 80", "the file announces %d facets, which take %d bytes, and has %d: it is cut off, or no STL", n, need, size)
	default:
		s.note("stl-trailing-bytes", true, "", "bytes behind the last facet were ignored")
	}
	return readBinarySTL(s, in, head[:stlHeader], n)
}

func readBinarySTL(s *soup, in io.Reader, head []byte, n int64) error {
	if n == 0 {
		return &gltfscene.Error{Reason: "has no facets", Err: gltfscene.ErrMalformed}
	}
	if n > maxRecords/3 {
		return tooMany("vertices")
	}
	r := bufio.NewReaderSize(in, 256<<10)
	if _, err := r.Discard(stlHeader + 4); err != nil {
		return err
	}
	// Two programs have put colours into a field that is not used: one where bit 15 is
	// set, the other, which names a colour for the rest in the header, where it is not.
	var plain uint32
	magics := false
	if i := bytes.Index(head, []byte("COLOR=")); i >= 0 && i+10 <= len(head) {
		magics, plain = true, binary.LittleEndian.Uint32(head[i+6:])|0xFF000000
	}
	var b [stlFacet]byte
	for i := range n {
		if i%8192 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return err
		}
		var list [3]corner
		for k := range list {
			p := float3(b[12+12*k:])
			for _, v := range p {
				if v-v != 0 {
					return malformed(fmt.Sprintf("facet %d", i), "a coordinate is %v", v)
				}
			}
			if err := s.addPosition([3]float64{float64(p[0]), float64(p[1]), float64(p[2])}); err != nil {
				return err
			}
			list[k].v = uint32(s.positions.n)
		}
		bits := binary.LittleEndian.Uint16(b[48:])
		s.want.color = plain
		if bits != 0 && (bits>>15 == 0) == magics {
			s.want.color = stlColor(bits, magics)
		}
		if err := s.addFace(list[:]); err != nil {
			return err
		}
	}
	return nil
}

// stlColor expands five bits a colour.
func stlColor(bits uint16, redFirst bool) uint32 {
	low, mid, high := uint32(bits&31), uint32(bits>>5&31), uint32(bits>>10&31)
	if !redFirst {
		low, high = high, low
	}
	wide := func(v uint32) uint32 { return v<<3 | v>>2 }
	return wide(low) | wide(mid)<<8 | wide(high)<<16 | 0xFF000000
}

// readTextSTL reads facets of three vertices each.
func readTextSTL(s *soup, in io.Reader) error {
	l := newLines(in, false)
	var list []corner
	fail := func(err error) error {
		var e *gltfscene.Error
		if errors.As(err, &e) && e.Place == "" {
			return within(line(l.number), err)
		}
		return err
	}
	facets := false
	for {
		b, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if l.number%8192 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		b = bom.Trim(b)
		w, rest := word(b)
		switch strings.ToLower(string(w)) {
		case "":
		case "solid":
			name, err := nameIn(rest)
			if err == nil {
				err = s.begin(name)
			}
			if err != nil {
				return fail(err)
			}
		case "facet", "endfacet", "endsolid", "color":
			if len(list) > 0 {
				return malformed(line(l.number), "a loop of vertices has no end")
			}
		case "outer":
			list = list[:0]
		case "vertex":
			var p [3]float64
			for i := range p {
				var n []byte
				n, rest = word(rest)
				var ok bool
				if p[i], ok = parseFloat(n); !ok {
					return malformed(line(l.number), "vertex wants three numbers, not %q", clip(n))
				}
			}
			if len(list) == maxCorners {
				return malformed(line(l.number), "a facet has more than %d vertices", maxCorners)
			}
			if err := s.addPosition(p); err != nil {
				return fail(err)
			}
			list = append(list, corner{v: uint32(s.positions.n)})
		case "endloop":
			if len(list) < 3 {
				return malformed(line(l.number), "a facet has %d vertices", len(list))
			}
			facets = true
			if err := s.addFace(list); err != nil {
				return fail(err)
			}
			list = list[:0]
		default:
			return malformed(line(l.number), "%q is unknown in an STL file", clip(w))
		}
	}
	switch {
	case len(list) > 0:
		return malformed(line(l.number), "the file ends within a facet: it is cut off")
	case !facets:
		return &gltfscene.Error{Reason: "has no facets", Err: gltfscene.ErrMalformed}
	}
	return nil
}
