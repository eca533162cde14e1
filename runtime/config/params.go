package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/untoldkit/untold/internal/editdist"
)

// Param describes one parameter for documentation and help texts.
type Param struct {
	Key     string
	Unit    string // "" when it has none
	Default string
	Range   string // "" when every value of the type is legal
	Meaning string

	field  []int   // of Config
	lo, hi float64 // inclusive, for numbers
	inf    bool    // infinity is legal
}

// Params returns all parameters in the order of Config.
func Params() []Param {
	list, def := slices.Clone(params()), Default()
	for i := range list {
		list[i].Default = list[i].Text(&def)
	}
	return list
}

// params are those of Config, without texts of their defaults; made when they are asked
// for first, since programs in pages start often.
var params = sync.OnceValue(func() []Param { return paramsOf(nil, reflect.TypeFor[Config](), nil, "") })

// paramsOf appends the parameters of a struct within Config.
func paramsOf(list []Param, of reflect.Type, at []int, prefix string) []Param {
	for i := range of.NumField() {
		f := of.Field(i)
		at, key := append(slices.Clip(at), i), prefix+keyOf(f.Name)
		switch {
		case f.Anonymous:
			list = paramsOf(list, f.Type, at, prefix)
			continue
		case f.Type.Kind() == reflect.Struct:
			list = paramsOf(list, f.Type, at, key+".")
			continue
		}
		p := Param{Key: key, Unit: f.Tag.Get("unit"), Range: f.Tag.Get("range"), Meaning: f.Tag.Get("doc"), field: at, hi: math.Inf(1)}
		text, inf := strings.CutSuffix(p.Range, ", or inf")
		if least, ok := strings.CutPrefix(text, "at least "); ok {
			p.lo, _ = strconv.ParseFloat(least, 64)
		} else if lo, hi, ok := strings.Cut(text, " to "); ok {
			p.lo, _ = strconv.ParseFloat(lo, 64)
			p.hi, _ = strconv.ParseFloat(hi, 64)
		}
		if p.inf = inf; f.Type.Kind() == reflect.Int {
			p.hi = min(p.hi, math.MaxInt32)
		}
		list = append(list, p)
	}
	return list
}

// Text writes the parameter's value in a Config, as Default has it.
func (p *Param) Text(c *Config) string {
	v := reflect.ValueOf(c).Elem().FieldByIndex(p.field)
	if v.Kind() == reflect.Slice {
		return strings.ReplaceAll(fmt.Sprint(v), " ", ", ")
	}
	return fmt.Sprint(v)
}

// keyOf writes the name of a field as a key: LODGate is lodGate.
func keyOf(name string) string {
	n := strings.IndexFunc(name, unicode.IsLower)
	switch {
	case n < 0:
		n = len(name)
	case n > 1:
		n--
	}
	return strings.ToLower(name[:n]) + name[n:]
}

// lookup finds a parameter; the error suggests the nearest key.
func lookup(key string) (*Param, error) {
	best, bestCost := "", len(key)/3+2
	params := params()
	for i := range params {
		if params[i].Key == key {
			return &params[i], nil
		}
		if cost := editdist.Distance(strings.ToLower(key), strings.ToLower(params[i].Key)); cost < bestCost {
			best, bestCost = params[i].Key, cost
		}
	}
	return nil, &Error{Key: key, Problem: "unknown key", Suggest: best}
}

// at returns the pointer to the parameter's field.
func (p *Param) at(c *Config) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(p.field).Addr().Interface()
}

func (p *Param) check(c *Config) error {
	var v float64
	switch at := p.at(c).(type) {
	case *int:
		v = float64(*at)
	case *int64:
		v = float64(*at)
	case *float64:
		v = *at
	case *Handoff:
		if *at != HandoffCovered && *at != HandoffStrict {
			return &Error{Key: p.Key, Problem: fmt.Sprintf("want covered or strict, got %q", string(*at))}
		}
		return nil
	case *OutOfCorePolicy:
		if !at.known() {
			return &Error{Key: p.Key, Problem: fmt.Sprintf("want auto, immediate or outOfCore, got %q", string(*at))}
		}
		return nil
	case *[]float64:
		for _, x := range *at {
			if !(x >= 0) || math.IsInf(x, 0) {
				return &Error{Key: p.Key, Problem: fmt.Sprintf("%v is not a finite distance", x)}
			}
		}
		return nil
	default:
		return nil
	}
	if !(v >= p.lo && v <= p.hi) || math.IsInf(v, 0) && !p.inf {
		return &Error{Key: p.Key, Problem: fmt.Sprintf("%v is out of range: want %s", v, p.Range)}
	}
	return nil
}
