package runtime

import (
	"time"

	"github.com/untoldkit/untold/runtime/payload"
)

// Swap-thrash audit: so many loads and unloads of one representation within the
// window are one too many.
const (
	swapWindow    = 5 * time.Second
	swapThreshold = 4
)

// toggled counts loads and unloads of one representation.
func (rs *residency) toggled(r *record, rep payload.Rep) {
	st := r.rep(rep)
	if st.toggles == 0 || rs.now-st.togglesAt > swapWindow {
		st.toggles, st.togglesAt = 0, rs.now
	}
	if st.toggles++; st.toggles < swapThreshold {
		return
	}
	st.toggles = 0
	rs.count.swapWarnings++
	rs.warn(r, rep, "the representation is loaded and unloaded over and over: its radii or switch distances lie too close together")
}
