package memory_test

import (
	"fmt"
	"path/filepath"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/memory"
)

func ExampleNewProbe() {
	probe := memory.NewProbe(memory.ProbeOptions{Root: filepath.Join("testdata", "bare"), Interval: -1})
	defer probe.Close()
	m := probe.Memory()
	fmt.Println(m.GeometryBudget>>20, "MiB of geometry,", m.TextureBudget>>20, "MiB of textures")
	// Output: 1843 MiB of geometry, 1228 MiB of textures
}

func ExampleWatch() {
	report := make(chan memory.PressureLevel, 1)
	m := memory.Watch(memory.MonitorOptions{
		Root: filepath.Join("testdata", "tight"),
	}, func(l memory.PressureLevel) { report <- l }) // a program passes Streamer.NotifyMemoryPressure
	defer m.Close()
	fmt.Println(<-report)
	// Output: warning
}

// What the package offers fits where the runtime takes it.
var (
	_ runtime.MemoryProbe                       = (*memory.Probe)(nil)
	_ func(s *runtime.Streamer) *memory.Monitor = func(s *runtime.Streamer) *memory.Monitor {
		return memory.Watch(memory.MonitorOptions{}, s.NotifyMemoryPressure)
	}
)
