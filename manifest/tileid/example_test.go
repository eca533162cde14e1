package tileid_test

import (
	"fmt"

	"github.com/untoldkit/untold/manifest/tileid"
)

func ExampleParseNode() {
	n, ok := tileid.ParseNode("F02_Q_1_0_0")
	fmt.Println(n.Floor, string(n.Tree), n.Path, len(n.Path), ok)
	// Output: 2 Q 100 3 true
}
