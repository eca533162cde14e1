package meshfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/gltfdoc"
)

// maxCorners is how many corners a polygon may have.
const maxCorners = 1 << 16

// maxRecords is how many positions, texture coordinates or normals a file may have: they
// are numbered by 32 bits, of which 0 is none.
const maxRecords = math.MaxUint32 - 1

// corner names what a corner of a face has, counted from 1; 0 is none. A position it
// always has.
type corner struct{ v, t, n uint32 }

// run is a part of the faces of an object, which follow each other in the file.
type run struct{ start, end int64 }

// object is what the file sets apart by a name.
type object struct {
	name      string
	triangles int64
	runs      []run
}

// How faces without normals are shaded: an even mixture of nothing, of what the file asks
// for with a smoothing group, and of what suits a file that says nothing.
const (
	flat   = 0              // by the face's own normal
	smooth = math.MaxUint32 // smooth but for creases; other numbers are groups
)

// soup is what a file holds, as it is read: lists, and faces that name their elements.
type soup struct {
	ctx    context.Context
	base   string // name of the file
	format Format
	opts   *Options

	positions *column // 3 float32, relative to origin
	texcoords *column // 2 float32, v upwards
	normals   *column // 3 float32
	colors    *column // 4 bytes, sRGB, by positions; empty without any
	origin    [3]float64
	faces     *stream

	objects []object
	byName  map[string]int
	current int // object of the faces that come; -1 before the first name
	running int // object of the last run, -1 before the first
	last    corner
	state   faceState // of the run
	want    faceState // of the faces that come

	materials  []string // by their numbers less 1
	materialOf map[string]uint32
	library    map[string]*material // by names
	images     imageList
	sources    []string // files beside the first
	notes      []gltfscene.Note
	noteOf     map[string]int

	scratch []byte
}

// faceState is what counts for faces until it changes.
type faceState struct {
	material uint32 // from 1, 0 for none
	smooth   uint32
	color    uint32 // bytes r, g, b, a from the lowest on; 0 for none
}

func newSoup(ctx context.Context, base string, format Format, opts *Options) *soup {
	share := opts.share()
	return &soup{
		ctx: ctx, base: base, format: format, opts: opts,
		positions: newColumn(12, share), texcoords: newColumn(8, share), normals: newColumn(12, share), colors: newColumn(4, share/2),
		faces: newStream(share), byName: map[string]int{}, current: -1, running: -1,
		materialOf: map[string]uint32{}, library: map[string]*material{}, noteOf: map[string]int{},
	}
}

// drop lets go of the lists.
func (s *soup) drop() {
	for _, c := range []*column{s.positions, s.texcoords, s.normals, s.colors, &s.faces.column} {
		c.drop()
	}
}

// note counts an occurrence of something that is said once.
func (s *soup) note(code string, warning bool, where, message string) {
	if i, ok := s.noteOf[code]; ok {
		s.notes[i].Count++
		return
	}
	s.noteOf[code] = len(s.notes)
	s.notes = append(s.notes, gltfscene.Note{Code: code, Count: 1, Message: message, Where: where, Warning: warning})
}

// far is from where on single precision would lose what files with coordinates of a map
// say: then all positions are kept relative to a round number near the first.
const far, round = 8192, 1024

// addPosition adds a position. Errors lack their place.
func (s *soup) addPosition(p [3]float64) error {
	if s.positions.n == 0 {
		for i, v := range p {
			if math.Abs(v) >= far && math.Abs(v) < 1e15 {
				s.origin[i] = float64(math.Floor(float64(v/round)+0.5) * round)
			}
		}
	}
	if s.positions.n == maxRecords {
		return tooMany("vertices")
	}
	b, err := s.positions.add()
	if err != nil {
		return err
	}
	for i, v := range p {
		f, ok := single(v - s.origin[i])
		if !ok {
			return malformed("", "the coordinate %v is beyond single precision", v)
		}
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(f))
	}
	return nil
}

// addColor adds the colour of the last position, three or four values, where 1 is full;
// others have none.
func (s *soup) addColor(c [4]uint8) error {
	for s.colors.n < s.positions.n-1 {
		if b, err := s.colors.add(); err != nil {
			return err
		} else {
			copy(b, white)
		}
	}
	b, err := s.colors.add()
	if err != nil {
		return err
	}
	copy(b, c[:])
	return nil
}

var white = []byte{255, 255, 255, 255}

// addTexcoord adds texture coordinates, of which v points upwards.
func (s *soup) addTexcoord(u, v float64) error {
	if s.texcoords.n == maxRecords {
		return tooMany("texture coordinates")
	}
	b, err := s.texcoords.add()
	if err != nil {
		return err
	}
	for i, x := range [2]float64{u, v} {
		f, ok := single(x)
		if !ok {
			return malformed("", "the texture coordinate %v is beyond single precision", x)
		}
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(f))
	}
	return nil
}

// addNormal adds a normal.
func (s *soup) addNormal(n [3]float64) error {
	if s.normals.n == maxRecords {
		return tooMany("normals")
	}
	b, err := s.normals.add()
	if err != nil {
		return err
	}
	for i, x := range n {
		f, ok := single(x)
		if !ok {
			return malformed("", "the normal %v is beyond single precision", n)
		}
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(f))
	}
	return nil
}

func tooMany(what string) error {
	return &gltfscene.Error{Reason: fmt.Sprintf("there are more than %d %s", int64(maxRecords), what), Hint: "divide the file", Err: gltfscene.ErrTooLarge}
}

// begin makes the faces that come those of an object.
func (s *soup) begin(name string) error {
	if i, ok := s.byName[name]; ok {
		s.current = i
		return nil
	}
	if most := s.opts.memory() / objectBytes; int64(len(s.objects)) >= most {
		return &gltfscene.Error{
			Reason: fmt.Sprintf("there are more than %d objects and groups", most),
			Hint:   "divide the file, write it with fewer names, or cook where there is more memory", Err: gltfscene.ErrTooLarge,
		}
	}
	s.current = len(s.objects)
	s.byName[name] = s.current
	s.objects = append(s.objects, object{name: name})
	return nil
}

// objectBytes is what part of the memory an object needs so that all of what is made of it
// fits.
const objectBytes = 4096

// maxName is how long a name may be, in bytes.
const maxName = 1024

// nameIn returns the name in the rest of a statement.
func nameIn(b []byte) (string, error) {
	if b = trim(b); len(b) > maxName {
		return "", malformed("", "a name has %d bytes, more than %d", len(b), maxName)
	}
	return string(b), nil
}

// material returns the number of a material's name.
func (s *soup) material(name string) uint32 {
	if i, ok := s.materialOf[name]; ok {
		return i
	}
	s.materials = append(s.materials, name)
	s.materialOf[name] = uint32(len(s.materials))
	return s.materialOf[name]
}

// Records of the stream of faces: a polygon begins with the number of its corners, which
// is larger than these.
const (
	recordMaterial = iota
	recordSmooth
	recordColor
)

// addFace adds a polygon of 3 to maxCorners corners.
func (s *soup) addFace(list []corner) error {
	if s.current < 0 {
		if err := s.begin(""); err != nil {
			return err
		}
	}
	o := &s.objects[s.current]
	if s.running != s.current {
		if s.running >= 0 {
			s.endRun()
		}
		if int64(len(o.runs)) > s.opts.memory()/objectBytes {
			return &gltfscene.Error{
				Reason: fmt.Sprintf("the faces of %q are spread over more than %d places of the file", o.name, len(o.runs)),
				Hint:   "sort the file by objects and groups", Err: gltfscene.ErrTooLarge,
			}
		}
		o.runs = append(o.runs, run{start: s.faces.n})
		s.running, s.state, s.last = s.current, faceState{}, corner{}
	}
	b := s.scratch[:0]
	for _, r := range []struct {
		kind uint64
		want uint32
		have *uint32
	}{{recordMaterial, s.want.material, &s.state.material}, {recordSmooth, s.want.smooth, &s.state.smooth}, {recordColor, s.want.color, &s.state.color}} {
		if r.want != *r.have {
			b = binary.AppendUvarint(binary.AppendUvarint(b, r.kind), uint64(r.want))
			*r.have = r.want
		}
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, c := range list {
		b = binary.AppendVarint(b, int64(c.v)-int64(s.last.v))
		b = appendMaybe(b, c.t, &s.last.t)
		b = appendMaybe(b, c.n, &s.last.n)
		s.last.v = c.v
	}
	s.scratch = b
	o.triangles += int64(len(list) - 2)
	return s.faces.write(b)
}

// appendMaybe appends a number that may be 0, for none, by what it differs from the last.
func appendMaybe(b []byte, v uint32, last *uint32) []byte {
	if v == 0 {
		return append(b, 0)
	}
	d := int64(v) - int64(*last)
	*last = v
	return binary.AppendUvarint(b, 1+(uint64(d<<1)^uint64(d>>63)))
}

func (s *soup) endRun() {
	runs := s.objects[s.running].runs
	runs[len(runs)-1].end = s.faces.n
}

// seal ends the reading.
func (s *soup) seal() error {
	if s.running >= 0 {
		s.endRun()
	}
	if s.colors.n > 0 { // those behind the last have none
		for s.colors.n < s.positions.n {
			b, err := s.colors.add()
			if err != nil {
				return err
			}
			copy(b, white)
		}
	}
	for _, c := range []*column{s.positions, s.texcoords, s.normals, s.colors} {
		if err := c.seal(); err != nil {
			return err
		}
	}
	return s.faces.seal()
}

// polygon is a face as it was added.
type polygon struct {
	faceState
	corners []corner
}

// walk shows the faces of an object, in order. A polygon is good until f returns.
func (s *soup) walk(o *object, f func(p *polygon) error) error {
	for _, r := range o.runs {
		in := bufio.NewReaderSize(io.NewSectionReader(s.faces, r.start, r.end-r.start), int(min(256<<10, max(r.end-r.start, 16))))
		var p polygon
		var last corner
		for n := 0; ; n++ {
			if n%4096 == 0 && s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			kind, err := binary.ReadUvarint(in)
			if err == io.EOF {
				break
			}
			if err != nil {
				return gltfdoc.Working(err)
			}
			if kind <= recordColor {
				v, err := binary.ReadUvarint(in)
				if err != nil {
					return gltfdoc.Working(err)
				}
				switch kind {
				case recordMaterial:
					p.material = uint32(v)
				case recordSmooth:
					p.smooth = uint32(v)
				default:
					p.color = uint32(v)
				}
				continue
			}
			p.corners = p.corners[:0]
			for range kind {
				d, err := binary.ReadVarint(in)
				if err != nil {
					return gltfdoc.Working(err)
				}
				last.v = uint32(int64(last.v) + d)
				c := corner{v: last.v}
				if c.t, err = readMaybe(in, &last.t); err != nil {
					return err
				}
				if c.n, err = readMaybe(in, &last.n); err != nil {
					return err
				}
				p.corners = append(p.corners, c)
			}
			if err := f(&p); err != nil {
				return err
			}
		}
	}
	return nil
}

func readMaybe(in *bufio.Reader, last *uint32) (uint32, error) {
	v, err := binary.ReadUvarint(in)
	if err != nil {
		return 0, gltfdoc.Working(err)
	}
	if v == 0 {
		return 0, nil
	}
	v--
	*last = uint32(int64(*last) + (int64(v>>1) ^ -int64(v&1)))
	return *last, nil
}

// position returns a corner's position.
func (s *soup) position(v uint32) (p [3]float32, err error) {
	b, err := s.positions.at(int64(v) - 1)
	if err != nil {
		return p, err
	}
	return float3(b), nil
}

func float3(b []byte) [3]float32 {
	return [3]float32{
		math.Float32frombits(binary.LittleEndian.Uint32(b)), math.Float32frombits(binary.LittleEndian.Uint32(b[4:])),
		math.Float32frombits(binary.LittleEndian.Uint32(b[8:])),
	}
}
