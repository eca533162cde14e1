//go:build !linux

package memory

import "github.com/untoldkit/untold/runtime"

// triggers exist on Linux only.
type triggers struct{ stalls bool }

func openTriggers(*reader) (*triggers, []string) {
	return nil, []string{"triggers of memory pressure exist on Linux only"}
}

func (t *triggers) run(func(runtime.PressureLevel) bool) {}
func (t *triggers) wakeUp()                              {}
func (t *triggers) close()                               {}
