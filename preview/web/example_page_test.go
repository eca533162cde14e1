package web

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExamplePage: the page of examples/page names only files that there are, and of the
// element only attributes, properties, events and figures that it has.
func TestExamplePage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "page", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	text, element := string(data), read(t, page(t), "untold-viewer.js")
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "web.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, api, _ := strings.Cut(string(docs), "## The element")

	all := func(pattern string) (out []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		if len(out) == 0 {
			t.Errorf("nothing in the page is like %s", pattern)
		}
		return out
	}
	for _, src := range all(`src="([^"]*)"`) {
		dir, name := path.Split(src)
		if dir != "site/" || path.Ext(name) != ".json" && read(t, page(t), name) == "" {
			t.Errorf("%s is no file of an export", src)
		}
	}
	tag := regexp.MustCompile(`(?s)<untold-viewer ([^>]*)>`).FindStringSubmatch(text)
	if tag == nil {
		t.Fatal("no element")
	}
	for _, a := range regexp.MustCompile(`([a-z]+)(?:="[^"]*")?`).FindAllStringSubmatch(tag[1], -1) {
		if a[1] != "id" && !strings.Contains(api, "`"+a[1]+"`") {
			t.Errorf("the element has no attribute %s", a[1])
		}
	}
	dom := []string{"addEventListener"}
	for _, name := range all(`[^/]\bcity\.([a-zA-Z]+)`) { // and not site/city.json
		has := regexp.MustCompile(`(?m)^  (?:get |set |async )?` + name + `\(`).MatchString(element)
		if !has && !slices.Contains(dom, name) {
			t.Errorf("the element has no %s", name)
		}
	}
	for _, event := range all(`\bcity\.addEventListener\("([a-z]+)"`) {
		if !strings.Contains(api, "| `"+event+"` |") {
			t.Errorf("the element has no event %s", event)
		}
	}
	figures := all(`const \{ ([a-z, ]+) \} = e\.detail`)
	for name := range strings.SplitSeq(figures[0], ", ") {
		if !strings.Contains(api, "`"+name+"`") {
			t.Errorf("there is no figure %s", name)
		}
	}
	for _, id := range all(`by\("([a-z]+)"\)`) {
		if !strings.Contains(text, ` id="`+id+`"`) {
			t.Errorf("nothing in the page is called %s", id)
		}
	}
}
