package hostqueue

// The limits of remote.Options where they say nothing else.
const (
	DefaultRequests = 12 // for payloads and textures
	DefaultTextures = 4  // of these for textures
	DefaultSmall    = 48 // beside them for small requests of textures
)

// Class is what a request is for.
type Class uint8

// Classes. Small requests have places of their own: what they take is the latency of a network
// more than its bandwidth.
const (
	Payload      Class = iota // or a manifest
	Texture                   // of more than smallTexture bytes, or nobody knows how many
	SmallTexture              // of no more

	classes // their number
)

// smallTexture is how many bytes of a texture come beside all else: the levels up to 256 x 256 of
// a picture in blocks, since what has none is drawn gray.
const smallTexture = 96 << 10

// Request is what the class of a request goes by.
type Request struct {
	Texture bool
	Size    int64 // bytes of the answer, as far as is known; 0: unknown
}

// Limits are how many requests to a host may run at a time.
type Limits struct {
	all  int          // of payloads and textures
	most [classes]int // of a class
}

// NewLimits returns limits to so many requests for payloads and textures, of these so many
// for textures, and beside them to so many small ones for textures. One request of a host that allows more than one is kept from textures.
func NewLimits(requests, textures, small int) Limits {
	return Limits{all: requests, most: [...]int{
		Payload: requests, Texture: max(1, min(textures, requests-1)), SmallTexture: small,
	}}
}

// Places returns how many requests there may be in all.
func (l *Limits) Places() int { return l.all + l.most[SmallTexture] }

// ClassOf returns the class of a request. Limits without places for small ones have none.
func (l *Limits) ClassOf(r Request) Class {
	switch {
	case !r.Texture:
		return Payload
	case r.Size > 0 && r.Size <= smallTexture && l.most[SmallTexture] > 0:
		return SmallTexture
	}
	return Texture
}
