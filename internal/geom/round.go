package geom

import (
	"math"
	"strconv"
)

// Round rounds to a number of decimals, exactly: to the nearest decimal, and
// to the even one of two equally near.
func Round(v float64, decimals int) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64)
	if err != nil {
		return v
	}
	return r
}
