//go:build 386 || arm || mips || mipsle

package utex

import "errors"

// decodeBlocks has no decoder: the one in use needs 64-bit integers.
func decodeBlocks(PixelFormat, []byte, int, int) ([]byte, error) {
	return nil, errors.New("BC7 and BC5 are decoded on 64-bit processors only")
}
