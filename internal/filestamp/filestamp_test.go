package filestamp

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStamp: a file that was replaced, changed or only touched is another one, and one
// that changed shortly before it was read is not to be trusted.
func TestStamp(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	at := time.Unix(1000, 5)
	write := func(text string, when time.Time) Stamp {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
		st, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		return Of(st)
	}
	first := write("one", at)
	if again := write("two", at); again != first {
		t.Errorf("%+v, %+v: the contents do not count", first, again)
	}
	for _, other := range []Stamp{write("three", at), write("two", at.Add(1))} {
		if other == first {
			t.Errorf("%+v", other)
		}
	}
	if s := (Stamp{Time: at.UnixNano()}); !s.Racy(at.Add(time.Second).UnixNano()) || s.Racy(at.Add(3*time.Second).UnixNano()) {
		t.Error("racy")
	}
}
