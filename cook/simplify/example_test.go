package simplify_test

import (
	"fmt"

	"github.com/untoldkit/untold/cook/simplify"
	"github.com/untoldkit/untold/internal/geom"
)

// A flat square of 32 triangles comes down to 2 without any error, and its
// locked corners stay where they are.
func ExampleSimplify() {
	m := &simplify.Mesh{}
	var locked []bool
	for z := range 5 {
		for x := range 5 {
			m.Positions = append(m.Positions, geom.Vec3{float64(x), 0, float64(z)})
			locked = append(locked, x%4 == 0 && z%4 == 0)
		}
	}
	for z := range uint32(4) {
		for x := range uint32(4) {
			a := 5*z + x
			m.Indices = append(m.Indices, a, a+5, a+1, a+1, a+5, a+6)
		}
	}
	out, result, err := simplify.Simplify(m, simplify.Options{Locked: locked}, 2, 0.001)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Triangles(), "triangles:", result.Stop)
	fmt.Println(out.Positions)
	// Output:
	// 2 triangles: the target is reached
	// [[0 0 0] [0 0 4] [4 0 0] [4 0 4]]
}

// All levels of an object come from one Simplifier.
func ExampleSimplifier_Reduce() {
	m := &simplify.Mesh{}
	for z := range 33 {
		for x := range 33 {
			h := float64((x-16)*(x-16)+(z-16)*(z-16)) / 64
			m.Positions = append(m.Positions, geom.Vec3{float64(x), h, float64(z)})
		}
	}
	for z := range uint32(32) {
		for x := range uint32(32) {
			a := 33*z + x
			m.Indices = append(m.Indices, a, a+33, a+1, a+1, a+33, a+34)
		}
	}
	s, err := simplify.New(m, simplify.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ratio := range []float64{0.5, 0.2, 0.1} {
		r := s.Reduce(int(ratio*float64(m.Triangles())), 0)
		fmt.Printf("%d triangles, error %.2f m\n", r.Triangles, r.Error)
	}
	// Output:
	// 1023 triangles, error 0.01 m
	// 408 triangles, error 0.03 m
	// 203 triangles, error 0.08 m
}
