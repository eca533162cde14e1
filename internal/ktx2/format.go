package ktx2

import "fmt"

// Format is a VkFormat; 0 is one that only the descriptor tells.
type Format uint32

// The formats that are decoded.
const (
	Undefined  Format = 0
	R8         Format = 9
	R8SRGB     Format = 15
	RG8        Format = 16
	RG8SRGB    Format = 22
	RGB8       Format = 23
	RGB8SRGB   Format = 29
	BGR8       Format = 30
	BGR8SRGB   Format = 36
	RGBA8      Format = 37
	RGBA8SRGB  Format = 43
	BGRA8      Format = 44
	BGRA8SRGB  Format = 50
	BC1RGB     Format = 131
	BC1RGBSRGB Format = 132
	BC1        Format = 133
	BC1SRGB    Format = 134
	BC2        Format = 135
	BC2SRGB    Format = 136
	BC3        Format = 137
	BC3SRGB    Format = 138
	BC4        Format = 139
	BC5        Format = 141
	BC7        Format = 145
	BC7SRGB    Format = 146
)

// Formats whose names errors tell.
const (
	bc4Signed  = 140
	bc5Signed  = 142
	bc6h       = 143
	bc6hSigned = 144
	etc2First  = 147
	etc2Last   = 156
	astcFirst  = 157
	astcLast   = 184
)

// layout says how the pixels of a format lie in a level.
type layout struct {
	name  string
	edge  int // of a block, 1 for plain pixels
	bytes int // of a block
	// order are the channels of plain pixels: which of red, green, blue and alpha
	// each byte is.
	order string
}

var layouts = map[Format]layout{
	R8: {"R8", 1, 1, "r"}, R8SRGB: {"R8 sRGB", 1, 1, "r"},
	RG8: {"RG8", 1, 2, "rg"}, RG8SRGB: {"RG8 sRGB", 1, 2, "rg"},
	RGB8: {"RGB8", 1, 3, "rgb"}, RGB8SRGB: {"RGB8 sRGB", 1, 3, "rgb"},
	BGR8: {"BGR8", 1, 3, "bgr"}, BGR8SRGB: {"BGR8 sRGB", 1, 3, "bgr"},
	RGBA8: {"RGBA8", 1, 4, "rgba"}, RGBA8SRGB: {"RGBA8 sRGB", 1, 4, "rgba"},
	BGRA8: {"BGRA8", 1, 4, "bgra"}, BGRA8SRGB: {"BGRA8 sRGB", 1, 4, "bgra"},
	BC1RGB: {"BC1", 4, 8, ""}, BC1RGBSRGB: {"BC1 sRGB", 4, 8, ""},
	BC1: {"BC1 with alpha", 4, 8, ""}, BC1SRGB: {"BC1 with alpha, sRGB", 4, 8, ""},
	BC2: {"BC2", 4, 16, ""}, BC2SRGB: {"BC2 sRGB", 4, 16, ""},
	BC3: {"BC3", 4, 16, ""}, BC3SRGB: {"BC3 sRGB", 4, 16, ""},
	BC4: {"BC4", 4, 8, ""}, BC5: {"BC5", 4, 16, ""},
	BC7: {"BC7", 4, 16, ""}, BC7SRGB: {"BC7 sRGB", 4, 16, ""},
}

// String returns the name of a format that is decoded, else its number, with the
// family of those that textures are known to come in.
func (f Format) String() string {
	if l, ok := layouts[f]; ok {
		return l.name
	}
	family := ""
	switch {
	case f == Undefined:
		return "an undefined format"
	case f == bc4Signed || f == bc5Signed:
		family = " (BC4 or BC5, signed)"
	case f == bc6h || f == bc6hSigned:
		family = " (BC6H, HDR)"
	case f >= etc2First && f <= etc2Last:
		family = " (ETC2 or EAC)"
	case f >= astcFirst && f <= astcLast:
		family = " (ASTC)"
	}
	return fmt.Sprintf("VkFormat %d%s", uint32(f), family)
}

// Kind names the format in messages.
func (f *File) Kind() string {
	switch {
	case f.Format != Undefined:
		return f.Format.String()
	case f.Descriptor.Model == ModelETC1S:
		return "ETC1S"
	case f.Descriptor.Model == ModelUASTC:
		return "UASTC"
	}
	return fmt.Sprintf("an undefined format of colour model %d", f.Descriptor.Model)
}

// layout returns how the pixels lie; false for formats that are not decoded here
// and for ETC1S.
func (f *File) layout() (layout, bool) {
	if f.Format == Undefined && f.Descriptor.Model == ModelUASTC {
		return layout{"UASTC", 4, 16, ""}, true
	}
	l, ok := layouts[f.Format]
	return l, ok
}

// levelSize returns the bytes of a picture's blocks or pixels, 0 for formats that
// are not decoded.
func (f *File) levelSize(width, height int) int64 {
	l, ok := f.layout()
	if !ok {
		return 0
	}
	return l.size(width, height)
}

// size returns the bytes of a picture.
func (l *layout) size(width, height int) int64 {
	across, down := (width+l.edge-1)/l.edge, (height+l.edge-1)/l.edge
	return int64(across) * int64(down) * int64(l.bytes)
}
