package remote

import (
	"net/url"
	"strings"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
	"github.com/untoldkit/untold/runtime/remote/internal/weburl"
)

// FuzzNames takes any address and texture URI to the address that is asked for: it is
// on the same host, below the folder of the container.
func FuzzNames(f *testing.F) {
	for _, uri := range append([]string{"Textures/a.png", "a/./b.png"}, remotetest.HostileURIs...) {
		f.Add("https://cdn.example.com/scene/tiles/t.untold?v=1", uri)
	}
	f.Add("http://[::1]:8080/a.b/c.meta", "x")
	f.Add("HTTPS://H/%2e%2e/.tmp#f", "x")
	f.Fuzz(func(t *testing.T, raw, uri string) {
		u, err := weburl.Parse(raw)
		if err != nil {
			return
		}
		base := weburl.Folder(u)
		if again, err := weburl.ParseFolder(base.String()); err != nil || again.String() != base.String() || base.Host != u.Host {
			t.Fatalf("%q: base %v, then %v, %v", raw, base, again, err)
		}
		root := diskcache.TextureFolder(base)
		s, err := textureSource(&containerFile{url: u, folder: root}, uri)
		if err != nil {
			return
		}
		if !strings.HasPrefix(s.name, root+"/") {
			t.Fatalf("%q at %q lies at %q", uri, raw, s.name)
		}
		if s.url.Host != u.Host || s.url.Scheme != u.Scheme || s.url.RawQuery != "" {
			t.Fatalf("%q at %q is asked for at %q", uri, raw, s.url)
		}
		if !strings.HasPrefix(s.url.Path, base.Path) && !strings.HasPrefix(s.url.Path, (&url.URL{Path: base.Path}).ResolveReference(&url.URL{Path: "."}).Path) {
			t.Fatalf("%q at %q is asked for at %q", uri, raw, s.url)
		}
	})
}
