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
	if Enabled {
		checks(t, fmt.Sprint(n))
	}
}

// Most has properties that are costly, each a cook or several, checked n times with and
// without the detector, if -rapid.checks does not ask for a number.
func Most(t testing.TB, n int) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f == nil || f.Value.String() == f.DefValue {
		checks(t, fmt.Sprint(n))
	}
}

func checks(t testing.TB, to string) {
	t.Helper()
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
	set(to)
	t.Cleanup(func() { set(was) })
}
