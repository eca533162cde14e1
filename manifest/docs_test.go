package manifest

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

var updateDocs = flag.Bool("update", false, "rewrite the table of findings in docs/manifest-keys.md")

// The page must name every key that a manifest can have, and list the rules as
// they are.
func TestKeysAreDocumented(t *testing.T) {
	path := filepath.Join("..", "docs", "manifest-keys.md")
	data := testfile.Read(t, path)
	page := string(data)
	m := full()
	for _, mode := range []string{ModeUniformGrid, ModeKDTreeFloor} {
		m.PartitioningMode = mode
		for _, pointer := range keyOrder(t, encodeBytes(t, m)) {
			if strings.HasPrefix(pointer, "/object_classification/") && strings.Count(pointer, "/") == 2 ||
				strings.HasPrefix(pointer, "/streaming_profile/tier_radi") && strings.Count(pointer, "/") == 3 {
				continue // names, not keys
			}
			if key := pointer[strings.LastIndexByte(pointer, '/')+1:]; !strings.Contains(page, "`"+key+"`") {
				t.Errorf("the page lacks %s", pointer)
			}
		}
	}
	const head = "| code | severity | what to do |\n|---|---|---|\n"
	at := strings.Index(page, head)
	if at < 0 {
		t.Fatal("the page has no table of findings")
	}
	var table strings.Builder
	for _, code := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", code, rules[code].severity, rules[code].hint)
	}
	if want := page[:at+len(head)] + table.String(); want != page {
		if !*updateDocs {
			t.Fatal("the table of findings is out of date: run go test ./manifest -update")
		}
		testfile.Write(t, path, want)
	}
}
