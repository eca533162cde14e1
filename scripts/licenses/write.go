package main

import (
	"fmt"
	"strings"
)

const intro = `The programs untold and untold-preview contain the software that is listed here,
each under its own licence. Their own is the Apache License 2.0, in LICENSE.
Which part of it a binary contains depends on the system and on whether it was
built with the preview; untold-preview contains all of it.

Go modules are listed with their versions; texts that several share stand once.
`

const goName = "Go (runtime and standard library)"

// generate returns the text of the file.
func generate(root string) (string, error) {
	modules, err := graph(root, builds)
	if err != nil {
		return "", err
	}
	own, err := goLicense(modules)
	if err != nil {
		return "", err
	}
	order := []string{own}
	owners := map[string][]string{own: {goName}}
	names := []string{goName}
	for _, m := range modules {
		list, err := m.texts()
		if err != nil {
			return "", err
		}
		name := m.Path + " " + m.Version
		names = append(names, name)
		for _, l := range list {
			if owners[l.text] == nil {
				order = append(order, l.text)
			}
			owners[l.text] = append(owners[l.text], name+": "+l.name)
		}
	}
	var b strings.Builder
	b.WriteString(intro)
	for _, n := range names {
		fmt.Fprintf(&b, "\n  %s", n)
	}
	b.WriteString("\n")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
	return b.String(), nil
}
