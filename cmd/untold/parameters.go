package main

import (
	"fmt"
	"strings"
)

// parameterUse says what a command has that parameters of the runtime need to
// have an effect.
type parameterUse struct {
	draws   bool // something is drawn
	address bool // a scene is at an address
	network bool // or its network is modelled
}

// refuse returns an error about a parameter of --set that would have no effect.
func (u *parameterUse) refuse(texts []string) error {
	for _, text := range texts {
		key, _, _ := strings.Cut(text, "=")
		if why := u.useless(strings.TrimSpace(key)); why != "" {
			return fmt.Errorf("--set %s has no effect: %s", text, why)
		}
	}
	return nil
}

// useless returns why a parameter has no effect, "" when it has one.
func (u *parameterUse) useless(key string) string {
	group, _, _ := strings.Cut(key, ".")
	switch {
	case group == "cache" && !u.address:
		return "a scene on the disk is not kept in the cache; name it by its address, or leave this out"
	case key == "http.requestTimeout" && !u.address, group == "http" && !u.address && !u.network:
		return "nothing is downloaded of a scene on the disk; name it by its address, or leave this out"
	case (group == "batching" || key == "batchSecondaryTileRepresentations") && !u.draws:
		return "simulate draws nothing; leave it to preview"
	}
	return ""
}
