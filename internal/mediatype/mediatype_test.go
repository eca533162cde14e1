package mediatype

import "testing"

func TestOf(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.untold": "application/octet-stream", "city.json": "application/json", "A.PNG": "image/png", "a.jpeg": "image/jpeg",
		"a": "application/octet-stream", "a.constructor": "application/octet-stream",
	} {
		if got := Of(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
