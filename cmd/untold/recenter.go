package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/cook"
)

// recenterFlag is a cook.Recenter: auto, none, or an offset X,Y,Z.
type recenterFlag struct{ to *cook.Recenter }

// String returns the value as Set reads it.
func (r recenterFlag) String() string {
	switch {
	case r.to == nil:
		return ""
	case r.to.Auto:
		return "auto"
	case r.to.Offset == [3]float64{}:
		return "none"
	}
	return strings.ReplaceAll(plainDigits(r.to.Offset[:]), " ", "")
}

// Type names the value in help texts.
func (r recenterFlag) Type() string { return "auto|none|X,Y,Z" }

// Set reads auto, none or three numbers.
func (r recenterFlag) Set(text string) error {
	switch strings.TrimSpace(text) {
	case "auto":
		*r.to = cook.Recenter{Auto: true}
		return nil
	case "none":
		*r.to = cook.Recenter{}
		return nil
	}
	parts := strings.Split(text, ",")
	var out cook.Recenter
	for i, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || len(parts) != 3 || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%q is no offset: write auto, none or X,Y,Z in metres, such as 500000,0,-4649776", text)
		}
		out.Offset[i] = v
	}
	*r.to = out
	return nil
}
