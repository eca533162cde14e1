package texfile

import (
	"math"
	"sync"
)

// linear returns the table from sRGB bytes to linear light in 1/65535
// (IEC 61966-2-1).
var linear = sync.OnceValue(func() *[256]uint16 {
	var t [256]uint16
	for i := range t {
		t[i] = uint16(math.Round(toLinear(float64(i)/255) * 65535))
	}
	return &t
})

// encode returns the inverse table, rounded to the nearest byte: 64 KiB, so
// that no precision is lost in the dark.
var encode = sync.OnceValue(func() *[65536]uint8 {
	var t [65536]uint8
	at := 0
	for v := range 255 {
		// Up to here v is nearer than v+1.
		end := int(toLinear((float64(v)+0.5)/255) * 65535)
		for ; at <= end; at++ {
			t[at] = uint8(v)
		}
	}
	for ; at < len(t); at++ {
		t[at] = 255
	}
	return &t
})

func toLinear(c float64) float64 {
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}
