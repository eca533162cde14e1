package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeClock moves by hand. Its waits are handed to the test, which ends them.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Duration
	waits chan chan time.Time
}

func newFakeClock() *fakeClock { return &fakeClock{waits: make(chan chan time.Time, 1)} }

func (c *fakeClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) After(time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 1)
	c.waits <- ch
	return ch
}

// pass waits until someone waits, and lets that time pass. When it returns, the
// one before has been dealt with.
func (c *fakeClock) pass(d time.Duration) {
	ch := <-c.waits
	c.mu.Lock()
	c.now += d
	c.mu.Unlock()
	ch <- time.Time{}
}

func memoryOf(grant int64) Memory {
	return Memory{GeometryBudget: grant / 5 * 3, TextureBudget: grant - grant/5*3}
}

func TestProbe(t *testing.T) {
	gpu := func(n int64) func() int64 { return func() int64 { return n } }
	for _, c := range []struct {
		name, tree string
		o          ProbeOptions
		want       Memory
		says       string
	}{
		{"at most 3 GiB", "bare", ProbeOptions{}, memoryOf(3 * gib), "12288 of 16384 MiB are available"},
		{"control group", "v2", ProbeOptions{}, memoryOf(512 * mib), "the control group leaves 640 of 1536 MiB"},
		{"nothing known", "absent", ProbeOptions{}, memoryOf(512 * mib), "nothing is known"},
		{"graphics memory", "v2", ProbeOptions{GPU: gpu(5 * gib)}, memoryOf(2 * gib), "5120 MiB of graphics memory"},
		{"no graphics memory", "bare", ProbeOptions{GPU: gpu(0)}, memoryOf(3 * gib), "are available"},
		{"hostile hook", "bare", ProbeOptions{GPU: gpu(-1 << 63)}, memoryOf(3 * gib), "are available"},
		{
			"fixed", "bare",
			ProbeOptions{Fixed: Memory{GeometryBudget: 7}},
			Memory{GeometryBudget: 7, TextureBudget: memoryOf(3 * gib).TextureBudget},
			"geometry 0 MiB",
		},
		{
			"used elsewhere", "bare",
			ProbeOptions{Used: func() (int64, int64) { return 3, 4 }},
			Memory{GeometryBudget: memoryOf(3 * gib).GeometryBudget, TextureBudget: memoryOf(3 * gib).TextureBudget, GeometryUsed: 3, TextureUsed: 4},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Root, c.o.Interval = filepath.Join("testdata", c.tree), -1
			p := NewProbe(c.o)
			defer p.Close()
			if got := p.Memory(); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if !strings.Contains(p.String(), c.says) {
				t.Errorf("%s", p)
			}
		})
	}
}

func meminfo(available int64) string {
	return fmt.Sprintf("MemTotal: %d kB\nMemAvailable: %d kB\n", 16*gib>>10, available>>10)
}

// TestProbeFollows: the budget follows what others leave, in steps of an
// eighth, and not what the program itself takes.
func TestProbeFollows(t *testing.T) {
	root := copyOf(t, "bare")
	put(t, root, "/proc/self/statm", "1 0")
	put(t, root, "/proc/meminfo", meminfo(4*gib))
	clock := newFakeClock()
	p := NewProbe(ProbeOptions{Root: root, Clock: clock})
	defer p.Close()
	page := int64(os.Getpagesize())
	for i, c := range []struct{ available, own, had int64 }{
		{4 * gib, 0, 4 * gib},
		{3 * gib, gib, 4 * gib}, // its own use
		{3*gib - 400*mib, gib, 4 * gib},
		{2 * gib, gib, 3 * gib},
		{2*gib + 300*mib, gib, 3 * gib},
		{4 * gib, gib, 5 * gib},
	} {
		put(t, root, "/proc/meminfo", meminfo(c.available))
		put(t, root, "/proc/self/statm", fmt.Sprintf("1 %d", c.own/page))
		clock.pass(5 * time.Second)
		ch := <-clock.waits // read
		want := memoryOf(int64(float64(c.had)*0.4) &^ (mib - 1))
		if got := p.Memory(); got != want {
			t.Errorf("step %d: got %+v, want %+v", i, got, want)
		}
		clock.waits <- ch
	}
	p.Close()
	p.Close()
	p.Memory()
}

// TestMemoryDoesNoInput: nothing is read, and nothing allocated, on the owner
// goroutine.
func TestMemoryDoesNoInput(t *testing.T) {
	p := NewProbe(ProbeOptions{Root: filepath.Join("testdata", "v2"), Interval: -1})
	defer p.Close()
	if n := testing.AllocsPerRun(100, func() { p.Memory() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkMemory measures a call; the baseline is a reading of the system.
func BenchmarkMemory(b *testing.B) {
	p := NewProbe(ProbeOptions{Interval: -1})
	defer p.Close()
	const reads = 100
	start := time.Now()
	for range reads {
		p.reader.sample()
	}
	reading := time.Since(start) / reads
	b.ReportAllocs()
	for b.Loop() {
		p.Memory()
	}
	call := float64(b.Elapsed()) / float64(b.N)
	b.ReportMetric(float64(reading.Nanoseconds()), "ns/reading")
	b.ReportMetric(call/float64(reading.Nanoseconds()), "of-a-reading")
}
