package surface

// checkDisplay says whether a window can be opened at all. GLFW 3.3 reports
// success without a display and fails in the next call.
func checkDisplay(getenv func(string) string, goos string) error {
	if goos == "windows" || goos == "darwin" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" {
		return nil
	}
	return ErrNoDisplay
}
