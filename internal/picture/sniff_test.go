package picture

import "testing"

func TestSniff(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n":           "PNG image/png",
		"\xff\xd8\xff\xe0":            "JPEG image/jpeg",
		"RIFF\x10\x00\x00\x00WEBPVP8": "WebP image/webp",
		"\xabKTX 20\xbb\r\n\x1a\n":    "KTX2 image/ktx2",
		"\xabKTX 11\xbb\r\n\x1a\n":    "KTX image/ktx",
		"\x00\x00\x00\x20ftypavif":    "AVIF image/avif",
		"DDS |":                       "DDS image/vnd-ms.dds",
		"GIF89a":                      "GIF image/gif",
		"BM6":                         "BMP image/bmp",
		"II*\x00":                     "TIFF image/tiff",
		"MM\x00*":                     "TIFF image/tiff",
		"#?RADIANCE\n":                "Radiance HDR image/vnd.radiance",
		"\x76\x2f\x31\x01":            "OpenEXR image/x-exr",
		"sB\x13\x00":                  "Basis image/basis",
		"RIFF\x10\x00\x00\x00WAVE":    " ",
		"RIFF":                        " ",
		"\x89PN":                      " ",
		"":                            " ",
	} {
		if f := Sniff([]byte(head)); f.Name+" "+f.MIME != want {
			t.Errorf("%q: %q %q, want %q", head, f.Name, f.MIME, want)
		}
	}
}
