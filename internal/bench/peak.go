package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// PeakAt returns a Probe.Peak that reads the most resident memory of this program from the
// files of Linux below root. Where they are not there, or may not be written, nothing is
// known: without being forgotten the peak is that of an earlier row.
func PeakAt(root string) func(forget bool) int64 {
	forgotten := false
	return func(forget bool) int64 {
		if forget {
			f, err := os.OpenFile(filepath.Join(root, "proc", "self", "clear_refs"), os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("5") // the peak alone
				if e := f.Close(); err == nil {
					err = e
				}
			}
			forgotten = err == nil
			return 0
		}
		text, err := os.ReadFile(filepath.Join(root, "proc", "self", "status"))
		if err != nil || !forgotten {
			return 0
		}
		_, rest, _ := strings.Cut(string(text), "\nVmHWM:")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != "kB" {
			return 0
		}
		kib, err := strconv.ParseInt(fields[0], 10, 43)
		if err != nil {
			return 0
		}
		return kib << 10
	}
}
