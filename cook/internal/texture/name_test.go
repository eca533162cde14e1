package texture

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStemOf(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, c := range []struct{ uri, name, want string }{
		{"wood.png", "", "wood"},
		{"a/b/wood.JPEG", "ignored", "wood"},
		{`a\b\wood.webp`, "", "wood"},
		{"", "Wood Colour.png", "Wood Colour"},
		{"", "", "image_7"},
		{"", "v1.2 final", "v1.2 final"},
		{"wood.png.png", "", "wood.png"},
		{"../../etc/passwd", "", "passwd"},
		{"..", "", "image_7"},
		{"/", "", "_"},
		{"", "../../x", "_.._x"},
		{"", `C:\x`, "C__x"},
		{".hidden.png", "", "hidden"},
		{"trailing. .png", "", "trailing"},
		{"CON.png", "", "image_7_CON"},
		{"con.foo.png", "", "image_7_con.foo"},
		{"lpt1.png", "", "image_7_lpt1"},
		{"COM\u00b9.png", "", "image_7_COM\u00b9"},
		{"aux .x.png", "", "image_7_aux .x"},
		{"COM10.png", "", "COM10"},
		{"nulls.png", "", "nulls"},
		{"a<b>:\"|?*#%\x00\x1f.png", "", "a_b__________"},
		{"gnp\u202e.png", "", "gnp_"},
		{"a\xffb.png", "", "a_b"},
		{"grün ❤♻.png", "", "grün ❤♻"},
		{long + ".png", "", strings.Repeat("é", 60)},
	} {
		if got := stemOf(c.uri, c.name, 7); got != c.want {
			t.Errorf("stemOf(%q, %q) = %q, want %q", c.uri, c.name, got, c.want)
		}
	}
}

// TestStemOfProperties: whatever the names are, the result is a plain file
// name for every file system.
func TestStemOfProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\ A-Za-z0-9:%]{0,160}`), rapid.StringMatching(`(con|nul|com1|aux)[. ]{0,2}[a-z]?`))
		s := stemOf(text.Draw(t, "uri"), text.Draw(t, "name"), 3)
		file := s + ".png"
		switch {
		case s == "" || !utf8.ValidString(s) || len(s) > maxStem+20:
			t.Fatalf("%q", s)
		case strings.ContainsAny(s, `/\:*?"<>|#%`) || s[0] == '.' || s[0] == ' ' || strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
			t.Fatalf("%q", s)
		case !filepath.IsLocal(file) || filepath.Base(file) != file || reserved(s):
			t.Fatalf("%q", s)
		}
	})
}

func TestNamer(t *testing.T) {
	var n namer
	var got []string
	for _, in := range [][3]string{
		{"wood", ".png", "wood"},
		{"wood", ".jpg", "wood"},
		{"Wood", ".PNG", "other"},
		{"wood", ".png", "wood"},
		{"wood", ".png", "wood"},
		{"wood", ".png", "wood"},
	} {
		got = append(got, n.pick(in[0], in[1], in[2]))
	}
	// The first eight hex digits of the SHA-1 of the key: "wood", "other".
	want := []string{"wood.png", "wood.jpg", "Wood_d0941e68.PNG", "wood_e8002c16.png", "wood_e8002c16_1.png", "wood_e8002c16_2.png"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestContentName(t *testing.T) {
	want := "a.b_aaf4c61d.png" // SHA-1 of "hello"
	for _, name := range []string{"a.b.png", want} {
		if got := ContentName(name, []byte("hello")); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}
