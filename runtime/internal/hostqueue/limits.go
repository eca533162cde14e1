package hostqueue

// The limits of remote.Options where they say nothing else.
const (
	DefaultRequests = 6  // for payloads and textures
	DefaultTextures = 4  // of these for textures
	DefaultSmall    = 12 // beside them for small requests of textures
)

// Class is what a request is for.
type Class uint8

// Classes. Small ones have places of their own: what they take is the latency of a network
// more than its bandwidth.
const (
	Payload   Class = iota // all that are not small nodes, or a manifest
	Texture                // of more than smallTexture bytes, or nobody knows how many
	SmallNode              // of no more than smallNode bytes
	SmallTexture

	classes // their number
)

// What comes beside all else has no more bytes than these: the first levels of a texture, since
// what has none is drawn gray, and nodes of a pyramid, of which a picture needs a hundred.
const (
	smallTexture = 32 << 10
	smallNode    = 128 << 10
)

// Request is what the class of a request goes by.
type Request struct {
	Texture bool
	Node    bool  // of a pyramid
	Size    int64 // bytes of the answer, as far as is known; 0: unknown
}

// Limits are how many requests to a host may run at a time.
type Limits struct {
	all  int          // of payloads and textures
	most [classes]int // of a class
}

// NewLimits returns limits to so many requests for payloads and textures, of these so many
// for textures, and beside them to so many small ones for textures and two thirds of that
// for nodes. One request of a host that allows more than one is kept from textures.
func NewLimits(requests, textures, small int) Limits {
	return Limits{all: requests, most: [...]int{
		Payload: requests, Texture: max(1, min(textures, requests-1)), SmallNode: small * 2 / 3, SmallTexture: small,
	}}
}

// Places returns how many requests there may be in all.
func (l *Limits) Places() int { return l.all + l.most[SmallNode] + l.most[SmallTexture] }

// ClassOf returns the class of a request. Limits without places for small ones have none.
func (l *Limits) ClassOf(r Request) Class {
	small := func(most int64, c Class) bool { return r.Size > 0 && r.Size <= most && l.most[c] > 0 }
	switch {
	case r.Texture && small(smallTexture, SmallTexture):
		return SmallTexture
	case r.Texture:
		return Texture
	case r.Node && small(smallNode, SmallNode):
		return SmallNode
	}
	return Payload
}
