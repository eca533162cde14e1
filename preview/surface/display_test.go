package surface

import (
	"errors"
	"testing"
)

func TestCheckDisplay(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name string
		env  func(string) string
		goos string
		want error
	}{
		{"nothing", env(), "linux", ErrNoDisplay},
		{"empty", env("DISPLAY", ""), "linux", ErrNoDisplay},
		{"X", env("DISPLAY", ":0"), "linux", nil},
		{"Wayland", env("WAYLAND_DISPLAY", "wayland-0"), "freebsd", nil},
		{"macOS", env(), "darwin", nil},
		{"Windows", env(), "windows", nil},
	} {
		if err := checkDisplay(c.env, c.goos); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// TestKeys: names of keys are distinct and printable ones are their letters.
func TestKeys(t *testing.T) {
	if KeySpace != Key(' ') || KeyEscape <= 'Z' || KeyF12-KeyF1 != 11 || KeyLast <= KeyRightSuper {
		t.Error("the keys are in disorder")
	}
}
