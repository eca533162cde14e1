package preview

import "github.com/untoldkit/untold/runtime"

// isFailure reports whether an event is a load that went wrong.
func isFailure(k runtime.Kind) bool {
	switch k {
	case runtime.EventTileFailed, runtime.EventTileTimeout, runtime.EventHLODFailed, runtime.EventLODFailed:
		return true
	}
	return false
}
