package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// ErrInvalid is matched by all errors about parameters.
var ErrInvalid = errors.New("runtime: bad configuration")

// Error says which parameter is wrong, and why.
type Error struct {
	Key     string
	Problem string
	Suggest string // the nearest key, when Key is unknown
}

// Error returns one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("runtime: config key %q: %s", e.Key, e.Problem)
	if e.Suggest != "" {
		s += fmt.Sprintf("; did you mean %q?", e.Suggest)
	}
	return s
}

// Unwrap returns ErrInvalid.
func (e *Error) Unwrap() error { return ErrInvalid }

// Set assigns one parameter by its key, such as "updateInterval" or
// "lod.bias". It accepts what JSON and YAML decoders return: booleans, numbers,
// strings, lists of numbers, and for a group ("lod") a map of its keys. The
// text "inf" stands for an infinite number. The error is a *Error; the
// range is checked too, relations between parameters by Validate.
func (c *Config) Set(key string, value any) error {
	if group, ok := value.(map[string]any); ok {
		for _, k := range slices.Sorted(maps.Keys(group)) {
			if err := c.Set(key+"."+k, group[k]); err != nil {
				return err
			}
		}
		return nil
	}
	p, err := lookup(key)
	if err != nil {
		return err
	}
	trial := *c
	if err := assign(p.at(&trial), value); err != nil {
		return &Error{Key: key, Problem: err.Error()}
	}
	if err := p.check(&trial); err != nil {
		return err
	}
	if key == "maxQueryRadius" {
		trial.FitQueryRadius = false
	}
	*c = trial
	return nil
}

// SetJSON assigns the parameters of a JSON object, in order of their keys.
func (c *Config) SetJSON(data []byte) error {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if err := c.Set(k, m[k]); err != nil {
			return err
		}
	}
	return nil
}

// Validate checks every parameter and how they fit together.
func (c *Config) Validate() error {
	params := params()
	for i := range params {
		if err := params[i].check(c); err != nil {
			return err
		}
	}
	bad := func(key, format string, args ...any) error {
		return &Error{Key: key, Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case c.BurstTickInterval > c.UpdateInterval:
		return bad("burstTickInterval", "%v s is longer than updateInterval (%v s)", c.BurstTickInterval, c.UpdateInterval)
	case c.LowWaterMark > c.HighWaterMark:
		return bad("lowWaterMark", "%v is above highWaterMark (%v)", c.LowWaterMark, c.HighWaterMark)
	case c.RetryBackoffMax < c.RetryBackoffBase:
		return bad("retryBackoffMax", "%v s is shorter than retryBackoffBase (%v s)", c.RetryBackoffMax, c.RetryBackoffBase)
	case !slices.IsSorted(c.LOD.Distances):
		return bad("lod.distances", "%v is not ascending", c.LOD.Distances)
	case c.Texture.DowngradeRadius < c.Texture.UpgradeRadius:
		return bad("texture.downgradeRadius", "%v m is below texture.upgradeRadius (%v m)", c.Texture.DowngradeRadius, c.Texture.UpgradeRadius)
	case c.Texture.MaxDimension < c.Texture.MinDimension:
		return bad("texture.maxDimension", "%d is below texture.minDimension (%d)", c.Texture.MaxDimension, c.Texture.MinDimension)
	}
	return nil
}

// assign converts a decoded value to the parameter's type.
func assign(dst, value any) error {
	switch d := dst.(type) {
	case *bool:
		v, ok := value.(bool)
		if !ok {
			return fmt.Errorf("want true or false, got %v", value)
		}
		*d = v
	case *float64:
		v, ok := number(value)
		if !ok {
			return fmt.Errorf("want a number, got %v", value)
		}
		*d = v
	case *int:
		v, ok := number(value)
		if !ok || v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			return fmt.Errorf("want a whole number, got %v", value)
		}
		*d = int(v)
	case *int64:
		v, ok := number(value)
		if !ok || v != math.Trunc(v) || math.Abs(v) >= 1<<63 {
			return fmt.Errorf("want a whole number, got %v", value)
		}
		*d = int64(v)
	case *[]float64:
		return assignList(d, value)
	case *string:
		v, ok := value.(string)
		if !ok {
			return fmt.Errorf("want a text, got %v", value)
		}
		*d = v
	case *Handoff:
		v, _ := value.(string)
		*d = Handoff(v)
		if *d != HandoffCovered && *d != HandoffStrict {
			return fmt.Errorf("want covered or strict, got %v", value)
		}
	case *OutOfCorePolicy:
		v, _ := value.(string)
		if *d = OutOfCorePolicy(v); !d.known() {
			return fmt.Errorf("want auto, immediate or outOfCore, got %v", value)
		}
	}
	return nil
}

func assignList(dst *[]float64, value any) error {
	switch v := value.(type) {
	case []float64:
		*dst = slices.Clone(v)
		return nil
	case []any:
		out := make([]float64, len(v))
		for i := range v {
			n, ok := number(v[i])
			if !ok {
				return fmt.Errorf("want a list of numbers, got %v", value)
			}
			out[i] = n
		}
		*dst = out
		return nil
	}
	return fmt.Errorf("want a list of numbers, got %v", value)
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		return math.Inf(1), v == "inf"
	}
	return 0, false
}
