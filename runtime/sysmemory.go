package runtime

import (
	"os"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/runtime/memory"
)

// Limits of the probed budget.
const (
	probeShare = 0.4 // of the memory that is to be had
	probeMin   = 512 * mib
	probeMax   = 3 << 30
)

// fixedMemory is a MemoryProbe of constant budgets and no outside use.
type fixedMemory memory.Memory

// Memory returns the budgets.
func (m fixedMemory) Memory() memory.Memory { return memory.Memory(m) }

// systemMemory probes the machine once: 40 % of the smaller of the control
// group's limit and the available memory, within [512 MiB, 3 GiB], split 60/40.
// Budgets that the configuration names are left to it.
func systemMemory(cfg *Config) MemoryProbe {
	available := int64(0)
	if v, ok := meminfo("/proc/meminfo", "MemAvailable:"); ok {
		available = v
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if v, ok := readBytes(path); ok && (available == 0 || v < available) {
			available = v
		}
	}
	var split Config
	split.SetMemoryBudget(max(probeMin, min(probeMax, int64(float64(available)*probeShare))))
	m := fixedMemory{GeometryBudget: split.GeometryBudget, TextureBudget: split.TextureBudget}
	if cfg.GeometryBudget > 0 {
		m.GeometryBudget = 0
	}
	if cfg.TextureBudget > 0 {
		m.TextureBudget = 0
	}
	return m
}

// readBytes reads a file that holds one number; "max" is none.
func readBytes(path string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return v, err == nil && v > 0
}

// meminfo reads a line of /proc/meminfo, which counts in KiB.
func meminfo(path, key string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == key {
			v, err := strconv.ParseInt(f[1], 10, 64)
			return v << 10, err == nil && v > 0
		}
	}
	return 0, false
}
