package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxSeconds is more than a time in seconds may be, some thirty years: what
// fits into a time.Duration with room to calculate.
const maxSeconds = 1e9

// parseTime reads a time as flags take it: a number of seconds (0.05) or
// with a unit (50ms).
func parseTime(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	d, err := time.ParseDuration(text)
	if err != nil {
		v, e := strconv.ParseFloat(text, 64)
		if e != nil || !(v > -maxSeconds && v < maxSeconds) {
			return 0, fmt.Errorf("%q is no time: write 0.05 (seconds) or 50ms", text)
		}
		d = time.Duration(math.Round(v * 1e9))
	}
	if d < 0 {
		return 0, fmt.Errorf("%q must not be negative", text)
	}
	return d, nil
}

// timeFlag is a time.Duration as a flag.
type timeFlag time.Duration

// timeVar turns a variable into a flag; what it holds is the default.
func timeVar(d *time.Duration) *timeFlag { return (*timeFlag)(d) }

// String returns the time, "" for none.
func (t *timeFlag) String() string {
	if *t == 0 {
		return ""
	}
	return time.Duration(*t).String()
}

// Type names the value in help texts.
func (t *timeFlag) Type() string { return "seconds" }

// Set reads 0.05 or 50ms.
func (t *timeFlag) Set(text string) error {
	d, err := parseTime(text)
	if err == nil {
		*t = timeFlag(d)
	}
	return err
}
