//go:build !(386 || arm || mips || mipsle)

package ktx2

import "github.com/woozymasta/bcn"

func decodeBC(f Format, data []byte, w, h int) ([]byte, error) {
	decode := bcn.DecodeBC7
	switch f {
	case BC1RGB, BC1RGBSRGB, BC1, BC1SRGB:
		decode = bcn.DecodeBC1
	case BC2, BC2SRGB:
		decode = bcn.DecodeBC2
	case BC3, BC3SRGB:
		decode = bcn.DecodeBC3
	case BC4:
		decode = bcn.DecodeBC4
	case BC5:
		decode = bcn.DecodeBC5
	}
	pix, err := decode(data, w, h)
	if err != nil {
		return nil, damaged("%v: %v", f, err)
	}
	return pix, nil
}
