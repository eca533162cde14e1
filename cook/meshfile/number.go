package meshfile

import (
	"math"
	"strconv"
)

// tens are the powers of ten that double precision holds exactly.
var tens = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat reads a decimal number, rounded correctly; neither infinities nor what is no
// number is one. Where mantissa and power of ten are exact, one operation rounds once,
// which is faster than the general way by far.
func parseFloat(b []byte) (v float64, ok bool) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	var mantissa uint64
	digits, exp, point, exact := 0, 0, false, true
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits++
		if mantissa < 1e17 {
			mantissa = mantissa*10 + uint64(c-'0')
			if point {
				exp--
			}
		} else {
			exact = false
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		e, minus, any := 0, false, false
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			minus = b[i] == '-'
			i++
		}
		for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			if any = true; e < 10_000 {
				e = e*10 + int(b[i]-'0')
			}
		}
		if !any {
			return 0, false
		}
		if minus {
			e = -e
		}
		exp += e
	}
	if i < len(b) {
		return 0, false
	}
	if exact && mantissa < 1<<53 && exp >= -22 && exp <= 22 {
		v = float64(mantissa)
		if exp < 0 {
			v /= tens[-exp]
		} else {
			v *= tens[exp]
		}
		if negative {
			v = -v
		}
		return v, true
	}
	v, err := strconv.ParseFloat(string(b), 64)
	// What is too small becomes 0 without an error.
	return v, err == nil && !math.IsInf(v, 0)
}

// parseInt reads a whole number.
func parseInt(b []byte) (v int64, ok bool) {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	if i == len(b) || len(b)-i > 18 {
		return 0, false
	}
	for ; i < len(b); i++ {
		if b[i] < '0' || b[i] > '9' {
			return 0, false
		}
		v = v*10 + int64(b[i]-'0')
	}
	if b[0] == '-' {
		v = -v
	}
	return v, true
}

// single rounds to single precision, which does not hold every number.
func single(v float64) (float32, bool) {
	f := float32(v)
	return f, f-f == 0
}
