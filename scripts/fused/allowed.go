package main

import "strings"

// allowance is a function, or all that begin with the same letters, whose results no
// cook writes.
type allowance struct{ function, reason string }

var allowed = []allowance{
	{"runtime.", "when Go collects garbage"},
	{"net/http.", "how long it waits before it asks again"},
	{"crypto/x509.", "numbers in messages"},
	{"github.com/dustin/go-humanize.", "numbers in messages"},
	{"github.com/schollz/progressbar/v3.", "the progress bar"},
	{"go.yaml.in/yaml/v3.(*decoder).unmarshal", "how many aliases a file of settings may have"},
	{"github.com/klauspost/compress.ShannonEntropyBits", "zstd's best encoder; files are written by the fastest"},
	{"github.com/untoldkit/untold/runtime", "draws and measures; imports nothing of cook"},
	{"github.com/untoldkit/untold/preview/", "draws; imports nothing of cook"},
	{"github.com/untoldkit/untold/internal/imagediff.", "figures of how alike pictures are, for people"},
	{"github.com/untoldkit/untold/cook/appearance.(*Difference).Color", "the same; levelcheck alone asks for it"},
	{"github.com/untoldkit/untold/cook/levelcheck.", "judges what is cooked"},
}

// judge returns what nothing allows, and the allowances that nothing needs.
func judge(found []finding, allowed []allowance) (bad []finding, stale []allowance) {
	used := make([]bool, len(allowed))
	for _, f := range found {
		ok := false
		for i, a := range allowed {
			if strings.HasPrefix(f.function, a.function) {
				used[i], ok = true, true
			}
		}
		if !ok {
			bad = append(bad, f)
		}
	}
	for i, a := range allowed {
		if !used[i] {
			stale = append(stale, a)
		}
	}
	return bad, stale
}
