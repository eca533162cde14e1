package race

import (
	"flag"
	"fmt"
	"testing"
)

// Checks has the properties of a test checked at most n times with the race detector, and as
// often as ever without. To pass over further runs instead would keep rapid from repeating
// what fails.
func Checks(t testing.TB, n int) {
	t.Helper()
	if !Enabled {
		return
	}
	f := flag.Lookup("rapid.checks")
	if f == nil {
		t.Fatal("the test checks no properties")
	}
	was := f.Value.String()
	set := func(to string) {
		if err := f.Value.Set(to); err != nil {
			t.Fatal(err)
		}
	}
	set(fmt.Sprint(n))
	t.Cleanup(func() { set(was) })
}
