//go:build (!cgo || nopreview) && !js

package surface

import (
	"errors"
	"testing"
)

func TestUnavailable(t *testing.T) {
	if _, err := OpenHeadless(1, 1); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	if _, err := OpenWindow("", 1, 1); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	if _, err := Describe(); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}
