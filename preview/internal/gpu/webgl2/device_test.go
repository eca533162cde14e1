package webgl2

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/preview/internal/gpu"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// TestBothSidesKnowTheCommands: webgl.js has every command of ops.go, by the same
// number and name, and no other.
func TestBothSidesKnowTheCommands(t *testing.T) {
	goSide, err := os.ReadFile("ops.go")
	if err != nil {
		t.Fatal(err)
	}
	jsSide, err := os.ReadFile("../../../web/page/webgl.js")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\top([A-Z]\w*)`).FindAllStringSubmatch(string(goSide), -1) {
		names = append(names, m[1])
	}
	if len(names) != int(ops) {
		t.Fatalf("%d names of %d commands", len(names), ops)
	}
	var there []string
	for i, m := range regexp.MustCompile(`case (\d+): ?\{? // (\w+)`).FindAllStringSubmatch(string(jsSide), -1) {
		if n, _ := strconv.Atoi(m[1]); n != i {
			t.Errorf("case %d stands in the place of %d", n, i)
		}
		there = append(there, m[2])
	}
	if !slices.Equal(names, there) {
		t.Errorf("ops.go has\n%v\nwebgl.js has\n%v", names, there)
	}
	for text, want := range map[string]int{"const WIDTH = ": tableWidth, "const IN_FLIGHT = ": gpu.InFlight} {
		_, rest, _ := strings.Cut(string(jsSide), text)
		if n, _ := strconv.Atoi(rest[:strings.IndexAny(rest, ";")]); n != want {
			t.Errorf("%s%d, want %d", text, n, want)
		}
	}
}

// fakePort keeps what is replayed.
type fakePort struct {
	have     features
	replays  [][]uint32
	programs []*gpu.Source
	failing  string
}

func (p *fakePort) caps(bool) features    { return p.have }
func (p *fakePort) replay(words []uint32) { p.replays = append(p.replays, slices.Clone(words)) }
func (p *fakePort) program(_ uint32, s *gpu.Source) string {
	p.programs = append(p.programs, s)
	return p.failing
}
func (p *fakePort) ready(uint32) bool                      { return true }
func (p *fakePort) location(_, _ uint32, name string) bool { return name == "u_there" }
func (p *fakePort) read(uint32, []byte)                    {}
func (p *fakePort) err() string                            { return p.failing }

func newFake(multi bool) (*Device, *fakePort) {
	p := &fakePort{have: features{Caps: gpu.Caps{MaxTexture: 4096, MultiDraw: multi}}}
	return newDevice(p, false), p
}

// TestObjectsFitIntoATable: a frame has no more records than a table has room for, of
// their objects.
func TestObjectsFitIntoATable(t *testing.T) {
	for _, edge := range []int{2048, 4096, 16384} {
		d := newDevice(&fakePort{have: features{Caps: gpu.Caps{MaxTexture: edge}}}, false)
		if n := d.Caps().MaxDraws; n < 100_000 || n*gpu.ObjectTexels > edge*tableWidth {
			t.Errorf("%d records, a table has %d texels", n, edge*tableWidth)
		}
	}
}

// TestAFrameIsOneCall: whatever is done in a frame is replayed by its end, in one
// call, and nothing is left.
func TestAFrameIsOneCall(t *testing.T) {
	d, p := newFake(true)
	d.Viewport(640, 480)
	d.Clear(&[4]float32{0, 0, 0, 1}, true)
	d.DepthTest(true)
	d.SetCommands(0, []uint32{3, 2, 10, 0, 0, 3, 0, 10, 0, 1, 6, 1, 4, 0, 2})
	if calls := d.DrawCommands(0, 3, true); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	if len(p.replays) != 0 {
		t.Fatal("something was done before the frame ended")
	}
	d.Fence(0)
	d.Fence(0) // of nothing
	if len(p.replays) != 1 {
		t.Fatalf("%d calls", len(p.replays))
	}
	words := p.replays[0]
	if !slices.Equal(words[:3], []uint32{uint32(opViewport), 640, 480}) || words[len(words)-1] != uint32(opEnd) {
		t.Errorf("%v", words)
	}
	// Indices, places of the first one in bytes, instances.
	if want := []int32{3, 3, 6, 40, 40, 16, 2, 0, 1}; !slices.Equal(d.calls, want) {
		t.Errorf("%v, want %v", d.calls, want)
	}
	if len(d.buffer.words)+len(d.buffer.keep) != 0 {
		t.Error("something is left")
	}
}

// TestLargeDataIsTakenAtOnce: callers may change it after the call; a little is
// copied among the commands.
func TestLargeDataIsTakenAtOnce(t *testing.T) {
	d, p := newFake(true)
	b, err := d.NewVertexBuffer(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	d.WriteBuffer(b, 8, []byte{1, 2, 3, 4, 5})
	d.WriteBuffer(b, 8, nil)
	want := []uint32{uint32(opNewBuffer), uint32(b), 1 << 20, uint32(opSmallBuffer), uint32(b), 8, 5, 0x04030201, 5}
	if !slices.Equal(d.buffer.words, want) || len(p.replays) != 0 {
		t.Errorf("%v, want %v", d.buffer.words, want)
	}
	d.WriteBuffer(b, 0, make([]byte, smallBytes+1))
	if len(p.replays) != 1 || len(d.buffer.words) != 0 {
		t.Error("large data waits")
	}
	i := gpu.TextureInfo{Encoding: texfile.BC7, SRGB: true, Width: 8, Height: 8, Levels: 4, Anisotropy: 1}
	d.WriteRows(d.NewTexture(&i, 3), &i, 2, 0, 4, 8, 4, make([]byte, 32))
	if w := p.replays[1]; w[0] != uint32(opNewTexture) || w[2] != 0x8E8D || w[3] != 1 || w[7] != 3 || w[9] != uint32(opWriteTexture) || !slices.Equal(w[11:16], []uint32{2, 0, 4, 8, 4}) {
		t.Errorf("%v", w)
	}
}

// TestIdsAreUsedAgain: names of what is deleted go to what is made next; none is
// never given.
func TestIdsAreUsedAgain(t *testing.T) {
	d, _ := newFake(true)
	a, _ := d.NewVertexBuffer(1)
	b, _ := d.NewVertexBuffer(1)
	d.DeleteBuffer(a)
	d.DeleteBuffer(0)
	c, _ := d.NewVertexBuffer(1)
	e, _ := d.NewVertexBuffer(1)
	if a == 0 || c != a || e == b || e == c {
		t.Errorf("%d %d %d %d", a, b, c, e)
	}
}

// TestTables: what has changed is stored when the table is bound, by whole rows,
// and all of it after it has grown.
func TestTables(t *testing.T) {
	d, _ := newFake(true)
	table := d.NewTable(3)
	bound := func() (row, rows uint32, any bool) {
		t.Helper()
		d.buffer.reset()
		table.Bind()
		w := d.buffer.words
		if w[0] == uint32(opBindTable) {
			return 0, 0, false
		}
		return w[2], w[3], true
	}
	table.Grow(4 * rowBytes)
	if _, _, any := bound(); any {
		t.Error("an empty table is stored")
	}
	table.Write(rowBytes-16, make([]byte, 32))
	table.Copy(2*rowBytes, 16, 16)
	if row, rows, any := bound(); !any || row != 0 || rows != 3 {
		t.Errorf("rows %d to %d", row, row+rows)
	}
	if _, _, any := bound(); any {
		t.Error("it is stored again")
	}
	table.Grow(8 * rowBytes)
	if row, rows, any := bound(); !any || row != 0 || rows != 4 {
		t.Errorf("after growing: rows %d to %d", row, row+rows)
	}
}

// TestPrologues: shaders find the number of a record, and depths before the near
// plane, by what the browser has.
func TestPrologues(t *testing.T) {
	for _, c := range []struct {
		have      features
		want, not string
	}{
		{features{Caps: gpu.Caps{MultiDraw: true}}, "gl_DrawID", "CLAMP_NEAR 0.0"},
		{features{}, "CLAMP_NEAR -1.0", "gl_DrawID"},
		{features{Caps: gpu.Caps{ReverseZ: true}}, "CLAMP_NEAR 0.0", "gl_DrawID"},
		{features{depthClamp: true}, "RECORD", "CLAMP_NEAR"},
	} {
		p := &fakePort{have: c.have}
		d := newDevice(p, false)
		if _, err := d.NewProgram(&gpu.Source{Vertex: "V", Fragment: "F"}); err != nil {
			t.Fatal(err)
		}
		s := p.programs[0]
		if !strings.HasPrefix(s.Vertex, "#version 300 es\n") || !strings.HasPrefix(s.Fragment, "#version 300 es\n") || !strings.Contains(s.Vertex, c.want) || strings.Contains(s.Vertex, c.not) {
			t.Errorf("%+v:\n%s", c.have, s.Vertex)
		}
	}
	d, p := newFake(true)
	p.failing = "0:1: no"
	if _, err := d.NewProgram(&gpu.Source{Name: "mesh"}); err == nil || err.Error() != "mesh: 0:1: no" {
		t.Errorf("%v", err)
	}
	if _, err := d.NewTarget(1, 1, 1); err == nil {
		t.Error("a target that failed")
	}
}

// TestUniforms: one that a program does not have is left alone.
func TestUniforms(t *testing.T) {
	d, _ := newFake(true)
	there, none := d.Location(1, "u_there"), d.Location(1, "u_none")
	d.Uniform1f(none, 1)
	d.Uniform4f(none, [4]float32{})
	d.UniformMatrix(none, &[16]float32{})
	if none >= 0 || len(d.buffer.words) != 0 {
		t.Errorf("%d, %v", none, d.buffer.words)
	}
	d.Uniform1f(there, 1)
	d.UniformMatrix(there, &[16]float32{})
	if len(d.buffer.words) != 3+18 {
		t.Errorf("%v", d.buffer.words)
	}
}
