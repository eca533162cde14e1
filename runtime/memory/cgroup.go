package memory

import (
	"path"
	"strconv"
	"strings"
)

// groups returns the folders, with slashes, of the control groups (version 2) of
// the process that have a memory controller: its own one and those above it, as
// far as they are mounted.
func (f files) groups() (out []string) {
	membership := f.read("/proc/self/cgroup")
	for _, m := range f.mounts() {
		own, ok := memberOf(membership)
		if !ok {
			continue
		}
		rel, inside := strings.CutPrefix(own, strings.TrimSuffix(m.root, "/"))
		if !inside || rel != "" && rel[0] != '/' {
			rel = "/" // the mount shows another part of the tree
		}
		dir := path.Join(m.point, rel)
		if f.read(path.Join(dir, "cgroup.procs")) == "" && f.memoryIn(dir) == "" {
			dir = m.point // named as the host sees it
		}
		for {
			if f.memoryIn(dir) != "" {
				out = append(out, dir)
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
func (f files) memoryIn(dir string) string { return f.read(path.Join(dir, "memory.current")) }

// mount is where a hierarchy of control groups can be seen.
type mount struct{ point, root string }

// mounts finds the hierarchies in /proc/self/mountinfo, or takes the usual
// place.
func (f files) mounts() (out []mount) {
	for line := range strings.Lines(f.read("/proc/self/mountinfo")) {
		before, after, ok := strings.Cut(line, " - ")
		a, b := strings.Fields(before), strings.Fields(after)
		if !ok || len(a) < 5 || len(b) < 3 {
			continue
		}
		if b[0] == "cgroup2" {
			out = append(out, mount{unescape(a[4]), unescape(a[3])})
		}
	}
	if out == nil {
		out = []mount{{"/sys/fs/cgroup", "/"}}
	}
	return out
}

// memberOf returns the process's path in the unified hierarchy.
func memberOf(membership string) (string, bool) {
	for line := range strings.Lines(membership) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) == 3 && f[0] == "0" && f[1] == "" {
			return path.Clean("/" + f[2]), true // a clean path has no way out
		}
	}
	return "/", membership == ""
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

// unlimited is from where a number means no limit.
const unlimited = 1 << 60

// limits returns what a group may use and uses. File pages that nothing has
// touched for long are given back before anything waits, so they do not count
// as use. high and max are alike: at high the kernel slows the group down.
func (f files) limits(dir string) (limit, used int64, ok bool) {
	limit = int64(unlimited)
	for _, n := range []string{"memory.max", "memory.high"} {
		if v, ok := f.number(path.Join(dir, n)); ok {
			limit = min(limit, v)
		}
	}
	used, ok = f.number(path.Join(dir, "memory.current"))
	if limit == 0 || limit >= unlimited || !ok {
		return 0, 0, false
	}
	if cached, ok := field(f.read(path.Join(dir, "memory.stat")), "inactive_file"); ok {
		used = max(0, used-cached)
	}
	return limit, used, true
}

// events counts what the kernel had to do to keep a group within its limit.
func (f files) events(dir string) (reclaims, kills int64) {
	text := f.read(path.Join(dir, "memory.events"))
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
