package cook

import "github.com/untoldkit/untold/internal/journal"

// Finish brings what a stopped cook has committed to a folder to its end, for
// those who are about to write there by other means. In most folders there is
// nothing to do. The error matches ErrBusy while a cook is at work.
func Finish(dir string) error {
	if pending, err := journal.Pending(dir); !pending && err == nil {
		return nil
	}
	root, err := journal.OpenDir(dir, false)
	if err != nil {
		return err
	}
	o := &output{dir: dir, files: root, ends: []func(){func() { root.Close() }}}
	defer o.endHolds()
	return o.claim()
}
