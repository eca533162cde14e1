package memory

import (
	"path"
	"strconv"
	"strings"
)

// group is a control group with a memory controller, as a slash path.
type group struct {
	dir     string
	version int
}

// groups returns the groups of the process that have memory files: its own one
// and those above it, as far as they are mounted.
func (f files) groups() (out []group) {
	membership := f.read("/proc/self/cgroup")
	for _, m := range f.mounts() {
		own, ok := memberOf(membership, m.version)
		if !ok {
			continue
		}
		rel, inside := strings.CutPrefix(own, strings.TrimSuffix(m.root, "/"))
		if !inside || rel != "" && rel[0] != '/' {
			rel = "/" // the mount shows another part of the tree
		}
		dir := path.Join(m.point, rel)
		if f.read(path.Join(dir, "cgroup.procs")) == "" && f.memoryIn(dir, m.version) == "" {
			dir = m.point // named as the host sees it
		}
		for {
			if f.memoryIn(dir, m.version) != "" {
				out = append(out, group{dir, m.version})
			}
			if dir == m.point || len(dir) <= len(m.point) {
				break
			}
			dir = path.Dir(dir)
		}
	}
	return out
}

// memoryIn returns the content of a file that every group with a memory
// controller has.
func (f files) memoryIn(dir string, version int) string {
	if version == 1 {
		return f.read(path.Join(dir, "memory.usage_in_bytes"))
	}
	return f.read(path.Join(dir, "memory.current"))
}

// mount is where a hierarchy of control groups can be seen.
type mount struct {
	point, root string
	version     int
}

// mounts finds the hierarchies in /proc/self/mountinfo, or takes the usual
// places.
func (f files) mounts() (out []mount) {
	for line := range strings.Lines(f.read("/proc/self/mountinfo")) {
		before, after, ok := strings.Cut(line, " - ")
		a, b := strings.Fields(before), strings.Fields(after)
		if !ok || len(a) < 5 || len(b) < 3 {
			continue
		}
		switch {
		case b[0] == "cgroup2":
			out = append(out, mount{unescape(a[4]), unescape(a[3]), 2})
		case b[0] == "cgroup" && hasWord(b[2], "memory"):
			out = append(out, mount{unescape(a[4]), unescape(a[3]), 1})
		}
	}
	if out == nil {
		out = []mount{{"/sys/fs/cgroup", "/", 2}, {"/sys/fs/cgroup/memory", "/", 1}}
	}
	return out
}

// memberOf returns the process's path in the unified hierarchy, or in that of
// the memory controller.
func memberOf(membership string, version int) (string, bool) {
	for line := range strings.Lines(membership) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && (version == 2 && f[0] == "0" && f[1] == "" || version == 1 && hasWord(f[1], "memory")) {
			return path.Clean("/" + f[2]), true // a clean path has no way out
		}
	}
	return "/", membership == ""
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// unescape undoes the octal escapes of mountinfo (\040 is a space).
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return path.Clean("/" + s)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(v))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return path.Clean("/" + b.String())
}

// unlimited is from where a number of version 1 means no limit: the kernel
// writes the largest multiple of its page size.
const unlimited = 1 << 60

// limits returns what a group may use and uses. File pages that nothing has
// touched for long are given back before anything waits, so they do not count
// as use. high and max of version 2 are alike: at high the kernel slows the
// group down.
func (f files) limits(g group) (limit, used int64, ok bool) {
	limit = int64(unlimited)
	names := []string{"memory.max", "memory.high"}
	usage, idle := "memory.current", "inactive_file"
	if g.version == 1 {
		names = []string{"memory.limit_in_bytes"}
		usage, idle = "memory.usage_in_bytes", "total_inactive_file"
	}
	for _, n := range names {
		if v, ok := f.number(path.Join(g.dir, n)); ok {
			limit = min(limit, v)
		}
	}
	used, ok = f.number(path.Join(g.dir, usage))
	if limit == 0 || limit >= unlimited || !ok {
		return 0, 0, false
	}
	if cached, ok := field(f.read(path.Join(g.dir, "memory.stat")), idle); ok {
		used = max(0, used-cached)
	}
	return limit, used, true
}

// events counts what the kernel had to do to keep a group within its limit.
func (f files) events(g group) (reclaims, kills int64) {
	if g.version == 1 {
		reclaims, _ = f.number(path.Join(g.dir, "memory.failcnt"))
		kills, _ = field(f.read(path.Join(g.dir, "memory.oom_control")), "oom_kill")
		return reclaims, kills
	}
	text := f.read(path.Join(g.dir, "memory.events"))
	for _, key := range []string{"high", "max"} {
		v, _ := field(text, key)
		reclaims += v
	}
	for _, key := range []string{"oom", "oom_kill"} {
		v, _ := field(text, key)
		kills += v
	}
	return reclaims, kills
}
