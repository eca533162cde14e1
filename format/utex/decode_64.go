//go:build !(386 || arm || mips || mipsle)

package utex

import "github.com/woozymasta/bcn"

// decodeBlocks decodes BC5 into red and green, and BC7.
func decodeBlocks(f PixelFormat, data []byte, w, h int) ([]byte, error) {
	one := &bcn.DecodeOptions{Workers: 1}
	if f == BC5 {
		return bcn.DecodeBC5WithOptions(data, w, h, one)
	}
	return bcn.DecodeBC7WithOptions(data, w, h, one)
}
