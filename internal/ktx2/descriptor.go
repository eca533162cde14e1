package ktx2

import "encoding/binary"

// ColorModel is what the descriptor says that the blocks are.
type ColorModel uint8

// The colour models of Basis Universal. The others follow from the format.
const (
	ModelRGB   ColorModel = 1
	ModelETC1S ColorModel = 163
	ModelUASTC ColorModel = 166
)

// Transfer is the function that the values of colours were stored with.
type Transfer uint8

// The transfer functions that textures have.
const (
	TransferUnspecified Transfer = iota
	TransferLinear
	TransferSRGB
)

// Channel is what a sample of the descriptor holds.
type Channel uint8

// The channels of Basis Universal; the numbers of ETC1S and of UASTC overlap.
const (
	ETC1SRGB Channel = 0
	ETC1SRRR Channel = 3
	ETC1SGGG Channel = 4
	ETC1SAAA Channel = 15

	UASTCRGB  Channel = 0
	UASTCRGBA Channel = 3
	UASTCRRR  Channel = 4
	UASTCRRRG Channel = 5
	UASTCRG   Channel = 6
)

// Descriptor is the basic block of a data format descriptor.
type Descriptor struct {
	Model         ColorModel
	Primaries     uint8 // 1: those of BT.709, which sRGB has as well
	Transfer      Transfer
	Premultiplied bool      // colours by alpha
	Channels      []Channel // of the samples
}

const (
	basicSize  = 24 // of a basic block without samples
	sampleSize = 16

	flagPremultiplied = 1
	channelMask       = 15
)

// parseDescriptor reads the first block, which must be a basic one.
func parseDescriptor(b []byte) (Descriptor, error) {
	const total = 4
	le := binary.LittleEndian
	if len(b) < total+basicSize || le.Uint32(b[total:]) != 0 {
		return Descriptor{}, damaged("the data format descriptor is cut off or does not begin with a basic block")
	}
	b = b[total:]
	size := int(le.Uint16(b[6:]))
	if size < basicSize || size > len(b) || (size-basicSize)%sampleSize != 0 {
		return Descriptor{}, damaged("the data format descriptor's block has %d of %d bytes", size, len(b))
	}
	d := Descriptor{Model: ColorModel(b[8]), Primaries: b[9], Transfer: Transfer(b[10]), Premultiplied: b[11]&flagPremultiplied != 0}
	for s := b[basicSize:size]; len(s) > 0; s = s[sampleSize:] {
		d.Channels = append(d.Channels, Channel(s[3]&channelMask))
	}
	return d, nil
}
