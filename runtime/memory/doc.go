// Package memory finds out how much memory a streaming program may use, and
// when the system wants some back. A Probe is a runtime.MemoryProbe; a Monitor
// calls runtime.Streamer.NotifyMemoryPressure:
//
//	probe := memory.NewProbe(memory.ProbeOptions{})
//	defer probe.Close()
//	s, err := runtime.Open(ctx, source, config, runtime.Deps{MemoryProbe: probe})
//	...
//	monitor := memory.Watch(memory.MonitorOptions{}, s.NotifyMemoryPressure)
//	defer monitor.Close()
//
// Both read small files of Linux: /proc/meminfo, /proc/pressure/memory and the
// memory controller of the process's control groups, version 2. All reading
// happens in goroutines of their own, but for a Probe that reads once. On other
// systems, and where files are missing or closed to the process, they go
// without and say so: Probe.String, Monitor.String.
//
// Tests inject the root of the file tree and the clock.
package memory
