package payloadpath_test

import (
	"errors"
	"fmt"

	"github.com/untoldkit/untold/manifest/payloadpath"
)

func ExampleCheck() {
	for _, path := range []string{"tiles/a.untold", "../a.untold", `tiles\a.untold`} {
		err := payloadpath.Check(path)
		fmt.Println(errors.Is(err, payloadpath.ErrEscapes), err)
	}
	// Output:
	// false <nil>
	// true manifest: path leaves the manifest's folder: "../a.untold" holds ".."
	// true manifest: path leaves the manifest's folder: "tiles\\a.untold" holds a backslash
}
