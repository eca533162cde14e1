package usd

import (
	"context"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
	"github.com/untoldkit/untold/internal/plainfile"
)

// maxMentions is how many names Mentions returns, and maxRead how long a layer may be, in
// bytes, whose names it looks for.
const (
	maxMentions = 10_000
	maxRead     = 1 << 30
)

// Mentions lists the names of files that a layer has, as it has them: of other layers, and
// of what its attributes name. Packages mention none.
func Mentions(name string) ([]string, error) {
	if isPackage(name) {
		return nil, nil
	}
	data, err := plainfile.Read(name, maxRead)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: context.Background(), opts: &Options{Memory: 4 * maxRead}}
	l, _, err := r.parse(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		return nil, nil // the import says what is wrong
	}
	var out []string
	add := func(name string) {
		if strings.HasSuffix(name, "]") {
			name, _, _ = strings.Cut(name, "[")
		}
		if name != "" && !strings.Contains(name, "://") && len(out) < maxMentions && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, s := range l.SubLayers {
		add(s)
	}
	mentioned(l.Root, add)
	return out, nil
}

// mentioned calls add with the files that a prim and those below it name.
func mentioned(p *layer.Prim, add func(name string)) {
	for _, op := range []*layer.ListOp[layer.Reference]{&p.References, &p.Payloads} {
		for _, list := range [][]layer.Reference{op.Items, op.Prepended, op.Appended, op.Added} {
			for _, ref := range list {
				add(ref.Asset)
			}
		}
	}
	for _, a := range p.Properties {
		if a.Type != "asset" {
			continue
		}
		if v, err := a.Get(); err == nil {
			if name, ok := v.(layer.Asset); ok {
				add(string(name))
			}
		}
	}
	for _, s := range p.Sets {
		for _, v := range s.Variants {
			mentioned(v, add)
		}
	}
	for _, c := range p.Children {
		mentioned(c, add)
	}
}
