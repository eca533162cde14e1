package picture

// Format is a picture's file format.
type Format struct {
	Name string // as messages spell it
	MIME string // media type
}

// SniffBytes is how many leading bytes Sniff needs.
const SniffBytes = 16

// formats are known by their leading bytes, or by two pieces of them.
var formats = [...]struct {
	Format
	magic string
	at    int
	more  string
}{
	{Format{"PNG", "image/png"}, "\x89PNG\r\n\x1a\n", 0, ""},
	{Format{"JPEG", "image/jpeg"}, "\xff\xd8\xff", 0, ""},
	{Format{"WebP", "image/webp"}, "RIFF", 8, "WEBP"},
	{Format{"KTX2", "image/ktx2"}, "\xabKTX 20\xbb\r\n\x1a\n", 0, ""},
	{Format{"KTX", "image/ktx"}, "\xabKTX 11\xbb\r\n\x1a\n", 0, ""},
	{Format{"AVIF", "image/avif"}, "", 4, "ftypavif"},
	{Format{"DDS", "image/vnd-ms.dds"}, "DDS ", 0, ""},
	{Format{"GIF", "image/gif"}, "GIF8", 0, ""},
	{Format{"BMP", "image/bmp"}, "BM", 0, ""},
	{Format{"TIFF", "image/tiff"}, "II*\x00", 0, ""},
	{Format{"TIFF", "image/tiff"}, "MM\x00*", 0, ""},
	{Format{"Radiance HDR", "image/vnd.radiance"}, "#?RADIANCE", 0, ""},
	{Format{"OpenEXR", "image/x-exr"}, "\x76\x2f\x31\x01", 0, ""},
	{Format{"Basis", "image/basis"}, "sB", 0, ""},
}

// Sniff tells a picture's format from its first SniffBytes bytes, or all that
// there are; the zero Format is an unknown one. It says nothing about the rest.
func Sniff(data []byte) Format {
	has := func(at int, s string) bool { return len(data) >= at+len(s) && string(data[at:at+len(s)]) == s }
	for i := range formats {
		if f := &formats[i]; has(0, f.magic) && has(f.at, f.more) {
			return f.Format
		}
	}
	return Format{}
}
