package render

import (
	"testing"

	"github.com/untoldkit/untold/format/vertex/compact"
	"github.com/untoldkit/untold/preview/internal/gpu"
)

// bufferDevice counts buffers.
type bufferDevice struct {
	gpu.Device
	last uint32
	have map[gpu.Buffer]bool
}

func (d *bufferDevice) buffer() gpu.Buffer {
	d.last++
	d.have[gpu.Buffer(d.last)] = true
	return gpu.Buffer(d.last)
}

func (d *bufferDevice) NewVertexBuffer(int) (gpu.Buffer, error) { return d.buffer(), nil }

func (d *bufferDevice) NewVertexArray(gpu.Buffer, []gpu.Attribute, int) (gpu.VertexArray, gpu.Buffer, error) {
	return gpu.VertexArray(d.last), d.buffer(), nil
}

func (d *bufferDevice) DeleteVertexArray(gpu.VertexArray) {}
func (d *bufferDevice) DeleteBuffer(b gpu.Buffer)         { delete(d.have, b) }

// TestPagesInUseStay: only a page that is empty goes, even where another one is empty
// and a third was made ahead.
func TestPagesInUseStay(t *testing.T) {
	const l = compact.Mapped
	d := &bufferDevice{have: map[gpu.Buffer]bool{}}
	p := &pool{device: d}
	take := func(bytes int) place {
		at, err := p.allocate(l, bytes, indexUnit)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	first := take(firstOther.vertices / 2)
	large := take(laterPage.vertices - 4<<20)
	small := take(3 << 20)
	if first.page == small.page || large.page != small.page {
		t.Fatal("not the pages that the test is about")
	}
	p.release(first)
	for range 3 {
		p.ahead()
	}
	p.release(small)
	if !d.have[large.page.vertex] || !d.have[large.page.index] {
		t.Error("a page goes of which a part is in use")
	}
	p.release(large)
	if p.close(); p.used != 0 || len(d.have) != 0 {
		t.Errorf("%d bytes are in use, %d buffers left", p.used, len(d.have))
	}
}
