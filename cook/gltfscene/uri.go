package gltfscene

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/untoldkit/untold/internal/jsonscan"
)

// scheme returns the scheme of uri in lower case, "" for a relative
// reference (RFC 3986 section 3.1).
func scheme(uri string) string {
	for i := range len(uri) {
		switch c := uri[i] | 0x20; {
		case c >= 'a' && c <= 'z':
		case i > 0 && (uri[i] >= '0' && uri[i] <= '9' || uri[i] == '+' || uri[i] == '-' || uri[i] == '.'):
		case i > 0 && uri[i] == ':':
			return strings.ToLower(uri[:i])
		default:
			return ""
		}
	}
	return ""
}

// localNames returns the slash-separated names that a relative URI may stand
// for, relative to the file's folder: the percent-decoded one, then, if it
// differs, the literal one. Names that leave the folder are refused unless
// parents is set.
func localNames(uri string, parents bool) ([]string, error) {
	switch s := scheme(uri); {
	case uri == "":
		return nil, malformed("", "has an empty uri")
	case len(s) == 1:
		return nil, outside("is an absolute path with a drive letter", uri, "")
	case s == "http" || s == "https":
		return nil, unsupported("", "download it beside the file and put its name into the uri",
			"is at a remote address, %q; nothing is fetched from a network", clip(uri))
	case s == "file":
		return nil, outside("is a file: address", uri, "put it beside the file and use a relative uri")
	case s != "":
		return nil, unsupported("", "use a relative file name", "has an address of scheme %q: %q", clip(s), clip(uri))
	}
	// Exporters on Windows write backslashes, which no URI may hold.
	literal := strings.ReplaceAll(uri, `\`, "/")
	candidates := []string{literal}
	if decoded, err := url.PathUnescape(literal); err == nil && decoded != literal {
		candidates = []string{strings.ReplaceAll(decoded, `\`, "/"), literal}
	}
	for i, name := range candidates {
		switch {
		case strings.HasPrefix(name, "/"):
			return nil, outside("is an absolute path", uri, "put it beside the file and use a relative uri")
		case len(scheme(name)) == 1:
			return nil, outside("is an absolute path with a drive letter", uri, "")
		case strings.ContainsRune(name, 0):
			return nil, malformed("", "has a uri with a NUL character: %q", clip(uri))
		}
		name = path.Clean(name)
		if (name == ".." || strings.HasPrefix(name, "../")) && !parents {
			return nil, outside("leaves the file's folder", uri, "Options.AllowParentPaths permits it for files that you trust")
		}
		candidates[i] = name
	}
	return candidates, nil
}

func outside(what, uri, hint string) error {
	return &Error{Reason: "uri " + quote(uri) + " " + what, Hint: hint, Err: ErrOutsideFolder}
}

func quote(s string) string { return `"` + clip(s) + `"` }

// isDataURI reports whether uri holds its data itself.
func isDataURI(uri []byte) bool {
	return len(uri) >= 5 && bytes.EqualFold(uri[:5], []byte("data:"))
}

// decodeDataURI returns the bytes of a data: URI (RFC 2397). Any media type
// is accepted; base64 may lack its padding.
func decodeDataURI(uri []byte) ([]byte, error) {
	head, body, ok := bytes.Cut(uri[len("data:"):], []byte(","))
	if !ok {
		return nil, malformed("", "has a data: URI without a comma")
	}
	if bytes.IndexByte(body, '%') >= 0 {
		plain, err := url.PathUnescape(string(body))
		if err != nil {
			return nil, malformed("", "has a data: URI with a broken percent escape")
		}
		body = []byte(plain)
	}
	if !bytes.HasSuffix(bytes.ToLower(head[max(0, len(head)-7):]), []byte(";base64")) {
		return bytes.Clone(body), nil
	}
	body = bytes.TrimRight(body, "=\r\n\t ")
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(body)))
	n, err := base64.RawStdEncoding.Decode(out, body)
	if err != nil {
		return nil, malformed("", "has a data: URI with broken base64: %v", err)
	}
	return out[:n:n], nil
}

// uriOf returns the uri member of an element without copying a long one.
func uriOf(raw []byte) []byte {
	lit := jsonscan.Member(raw, "uri")
	if len(lit) < 2 || lit[0] != '"' {
		return nil
	}
	if bytes.IndexByte(lit, '\\') < 0 {
		return lit[1 : len(lit)-1]
	}
	var s string
	if json.Unmarshal(lit, &s) != nil {
		return nil
	}
	return []byte(s)
}

// withoutData returns the element raw with a data: URI replaced by an empty
// string, so that decoding does not copy it.
func withoutData(raw []byte) []byte {
	lit := jsonscan.Member(raw, "uri")
	if len(lit) < 1024 || lit[0] != '"' {
		return raw
	}
	// member returns a part of raw: its position follows from the capacities.
	start := cap(raw) - cap(lit)
	if start < 0 || start+len(lit) > len(raw) {
		return raw
	}
	out := make([]byte, 0, len(raw)-len(lit)+2)
	out = append(out, raw[:start]...)
	out = append(out, '"', '"')
	return append(out, raw[start+len(lit):]...)
}

// noteBackslash notes a URI with backslashes, which were taken as slashes.
func (se *session) noteBackslash(uri string) {
	if strings.ContainsRune(uri, '\\') {
		se.notes.warn("backslash-uri", "", "a uri has backslashes, which were taken as slashes: "+clip(uri))
	}
}
