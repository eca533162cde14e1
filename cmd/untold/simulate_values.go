package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/untoldkit/untold/runtime/config"
)

// bandwidth is a flag in bytes per second.
type bandwidth float64

// bandwidthUnits maps the units to bytes per second: decimal multiples, B for
// bytes and b for bits.
var bandwidthUnits = []struct {
	name  string
	bytes float64
}{
	{"GBps", 1e9},
	{"MBps", 1e6},
	{"kBps", 1e3},
	{"Gbps", 1e9 / 8},
	{"Mbps", 1e6 / 8},
	{"kbps", 1e3 / 8},
	{"Bps", 1},
}

// String returns the value in MBps, "" when unlimited.
func (b *bandwidth) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*b)/1e6, 'g', -1, 64) + "MBps"
}

// Type names the value in help texts.
func (b *bandwidth) Type() string { return "rate" }

// Set reads a number with a unit; MB/s is MBps.
func (b *bandwidth) Set(s string) error {
	text := strings.TrimSpace(strings.Replace(s, "/s", "ps", 1))
	for _, u := range bandwidthUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) || v*u.bytes < 1 {
			break
		}
		*b = bandwidth(v * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is no bandwidth: write 10MBps, with Bps, kBps, MBps, GBps, kbps, Mbps or Gbps", s)
}

// setParameter sets one parameter of the runtime from key=value. The value is
// read as in YAML: a number, true or false, a text, or a list in brackets.
func setParameter(c *config.Config, text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("write KEY=VALUE")
	}
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		return fmt.Errorf("%q is no value", value)
	}
	return c.Set(strings.TrimSpace(key), v)
}

// setParameters sets the parameters of --set.
func setParameters(c *config.Config, texts []string) error {
	for _, text := range texts {
		if err := setParameter(c, text); err != nil {
			return fmt.Errorf("--set %s: %w", text, err)
		}
	}
	return nil
}
