package journal

import (
	"path"
	"time"
)

// DeadAfter is the time without any change after which a stage is taken for one of
// a killed cook where there are no locks to tell.
const DeadAfter = 24 * time.Hour

// Idle returns a function that reports whether nothing in a file or folder has
// changed for DeadAfter. now is the time of the clock.
func Idle(now time.Time) func(f FS, at string) bool {
	since := now.Add(-DeadAfter)
	return func(f FS, at string) bool { return unchanged(f, at, since) }
}

// unchanged reports whether nothing in a folder has changed since a time.
func unchanged(f FS, at string, since time.Time) bool {
	st, err := f.Lstat(at)
	if err != nil || !st.ModTime().Before(since) {
		return false
	}
	if !st.IsDir() {
		return true
	}
	list, err := f.ReadDir(at)
	if err != nil {
		return false
	}
	for _, e := range list {
		if !unchanged(f, path.Join(at, e.Name()), since) {
			return false
		}
	}
	return true
}
