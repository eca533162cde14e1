package simulate_test

import (
	"context"
	"fmt"

	"github.com/untoldkit/untold/runtime/simulate"
)

// A tile whose camera jumps out of range stays for its eight seconds of
// residence.
func Example() {
	s, err := simulate.Parse([]byte(`{
		"scene": {
			"streaming_defaults": {"streaming_radius": 50, "unload_radius": 100, "priority": 10},
			"tiles": [{"tile_id": "a", "bounds": {"min": [0, -5, -5], "max": [10, 5, 5]}}]
		},
		"config": {"enableFrustumGate": false},
		"camera": [{"t": 0, "position": [0, 0, 0]}, {"t": 1, "position": [-120, 0, 0]}],
		"duration": 10
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := simulate.Run(context.Background(), s, simulate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range r.Records {
		fmt.Println(string(r.Records[i].AppendJSON(nil)))
	}
	fmt.Println("undrawn:", r.Report.Undrawn)
	// Output:
	// {"t":0,"frame":0,"event":"scene.load"}
	// {"t":0,"frame":0,"event":"tile.dispatch","tile":"a"}
	// {"t":0.3,"frame":3,"event":"tile.parsed","tile":"a"}
	// {"t":0.3,"frame":3,"event":"drawn","tile":"a","rep":"full"}
	// {"t":1,"frame":10,"event":"tile.grace","tile":"a"}
	// {"t":8.3,"frame":83,"event":"tile.unload","tile":"a"}
	// {"t":8.3,"frame":83,"event":"drawn","tile":"a","rep":"none"}
	// undrawn: 0
}

func ExampleParseCondition() {
	c, _ := simulate.ParseCondition("undrawn > 0")
	fmt.Println(c, c.Holds(&simulate.Report{Undrawn: 3}))
	_, err := simulate.ParseCondition("undrwan > 0")
	fmt.Println(err)
	// Output:
	// undrawn>0 true
	// condition "undrwan > 0": there is no figure "undrwan"; did you mean "undrawn"?
}
