// Package gpu names what the renderer needs of a graphics device: buffers,
// textures, programs, framebuffers, state, draws and readback. There is one
// renderer (package render) and a device for each way to a GPU: gl41 for OpenGL
// 4.1, webgl2 for browsers.
//
// A Device belongs to one goroutine. Handles are those of the device that made
// them; 0 is none, and deleting none is nothing. Binding and state stay until
// they are changed, as in OpenGL. Slices that are handed over are read before the
// call returns.
package gpu

import (
	"time"

	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// Handles of what a Device keeps.
type (
	Buffer      uint32
	Texture     uint32
	Program     uint32
	VertexArray uint32 // buffers of vertices and indices, and how they are read
	Framebuffer uint32 // of a shadow map; of a surface, as a surface.Surface has it
)

// Location is the place of a uniform in a program; a negative one is of a uniform
// that the program does not have, and is ignored.
type Location int32

// InFlight is how many frames the processor may be ahead of the GPU. What is
// written every frame has a place for each: number at%InFlight.
const InFlight = 3

// Caps says what a device has.
type Caps struct {
	Vendor, Device, Version string
	ReverseZ                bool // clip space has depths from 0 to 1, so that 0 can be infinity
	MultiDraw               bool // one call draws many meshes
	PersistentMap           bool // buffers are written without a call
	TextureStorage          bool
	Blocks                  bool // takes BC7 and BC5
	ASTC                    bool
	WebGL                   bool // takes blocks as texfile.Options.WebGL has them
	CopyTexture             bool // CopyTexture works
	DebugOutput             bool // Listen works
	Software                bool // drawn by the processor
	BaseVertex              bool // indices count from a vertex that a command names; else from the buffer's first, with 32 bits
	Wireframe               bool // Wireframe works
	Anisotropy              int  // the most
	MaxTexture              int  // edge in texels
	MaxLayers               int  // of a texture
	Samples                 int  // the most
	MaxDraws                int  // records of a frame that shaders can read
	LatePrograms            bool // programs that are not needed yet are made beside frames: Source.Later, Ready
	DedicatedBytes          int64
}

// ObjectTexels is how many texels of a Table an object takes: more than a record, so that
// it bounds how many records a frame has. There are no more objects than records.
const ObjectTexels = 5

// Device is a graphics device.
type Device interface {
	// Caps says what the device has; with plain as little as one may have.
	Caps() Caps
	// Listen hands over what the driver says from now on, during the call that it
	// is about; nil ends it.
	Listen(heard func(*Message))
	// Err returns and forgets the errors that calls left behind.
	Err() error
	// Finish waits until all is drawn.
	Finish()

	// Wait returns when the GPU is done with the frame that used a place last, and
	// BeginTimer begins to measure the GPU's time of the one that uses it now; it
	// returns that of the former, 0 where this cannot be known. EndTimer and Fence
	// end the frame.
	Wait(at int)
	BeginTimer(at int) time.Duration
	EndTimer()
	Fence(at int)

	buffers
	programs
	textures
	state
	draws

	// Close gives back what the device has made for itself.
	Close()
}

type buffers interface {
	// NewVertexBuffer makes a buffer of size bytes for the vertices of many
	// meshes. The error says that there is no memory.
	NewVertexBuffer(size int) (Buffer, error)
	// NewVertexArray makes a buffer of indexSize bytes, and reads vertices by it.
	// Attribute RecordAttribute is the number of a draw's record, where shaders
	// take it from an attribute. The buffers stay the caller's.
	NewVertexArray(vertices Buffer, layout []Attribute, indexSize int) (VertexArray, Buffer, error)
	// WriteBuffer stores data in a buffer that frames in flight may use, at a place
	// that they do not use.
	WriteBuffer(b Buffer, offset int, data []byte)
	DeleteBuffer(Buffer)
	DeleteVertexArray(VertexArray)
	BindVertexArray(VertexArray)

	// NewGeometry makes geometry that is written anew every frame.
	NewGeometry(layout []Attribute) Geometry
	// NewUniforms makes the values of the uniform block of all programs.
	NewUniforms() Stream
	// NewRecords makes a table of texels that shaders fetch from at a unit, written
	// anew every frame, with room for floor bytes to begin with.
	NewRecords(f TexelFormat, unit, floor int) Stream
	// NewTable makes a table of RGBA32F texels that stays, bound to a unit by Bind.
	NewTable(unit int) Table
	// SetCommands hands over the commands of a frame, CommandWords each.
	SetCommands(at int, commands []uint32)
}

// Stream is data that is written anew every frame.
type Stream interface {
	// Write stores the data of a frame, whose place the GPU is done with, and binds
	// it to where shaders read it.
	Write(at int, data []byte)
	Close()
}

// Geometry is vertices, with or without indices, that are written anew every
// frame.
type Geometry interface {
	// Write stores the geometry of a frame, whose place the GPU is done with, and
	// leaves its vertex array bound.
	Write(at int, vertices []byte, indices []uint32)
	Close()
}

// Table is a table of texels.
type Table interface {
	// Grow makes room for size bytes; what is there stays.
	Grow(size int)
	// Write stores data from an offset on, both multiples of 16 bytes; Copy takes it
	// from elsewhere in the table. Frames in flight do not use the place.
	Write(offset int, data []byte)
	Copy(to, from, n int)
	Bind()
	Close()
}

// TexelFormat is how shaders see a table.
type TexelFormat uint8

// The formats; a texel has 16 bytes.
const (
	RGBA32F TexelFormat = iota
	RGBA32UI
)

// Attribute describes an input of vertex shaders.
type Attribute struct {
	Location   int
	Components int
	Kind       AttributeKind
	Offset     int // bytes
	Stride     int // bytes from one vertex to the next
}

// AttributeKind is how a component is stored, and what shaders get.
type AttributeKind uint8

// The kinds.
const (
	Float32  AttributeKind = iota
	Float16                // as float
	Unorm8                 // 0 to 1
	Packed10               // 10, 10, 10 and 2 bits, signed, as the integers that they are
	Uint16                 // as the number that it is
)

// RecordAttribute is the attribute that holds the number of a draw's record, and
// CommandWords how many words a command has: indices, instances, the first index,
// the vertex that indices count from, and the record.
const (
	RecordAttribute = 5
	CommandWords    = 5
)

type programs interface {
	// NewProgram compiles and links. The error has what the compiler says.
	NewProgram(*Source) (Program, error)
	// Ready reports whether a program is made, so that its first use waits for nothing.
	Ready(Program) bool
	DeleteProgram(Program)
	// UseProgram takes a program into use; 0 ends that of any.
	UseProgram(Program)
	// Location finds a uniform.
	Location(p Program, name string) Location
	// Uniform1f, Uniform4f and UniformMatrix set a uniform of the program in use.
	Uniform1f(Location, float32)
	Uniform4f(Location, [4]float32)
	UniformMatrix(Location, *[16]float32)
}

// Source is a program in the common part of GLSL 4.10 and GLSL ES 3.00, without a
// version: devices write a prologue before it, which says how what they do not
// share is done (package render lists its words).
type Source struct {
	Name             string // in errors
	Vertex, Fragment string
	Units            map[string]int // of samplers, by their names
	Block            string         // the uniform block's name
	Later            bool           // it is not used before it is Ready; what goes wrong may be told then
}

type textures interface {
	// NewTexture makes a texture of so many layers, at least 1, with all their levels:
	// an array, as shaders see it. It is repeated, and filtered by as many samples as
	// Anisotropy.
	NewTexture(i *TextureInfo, layers int) Texture
	// NewAtlas makes a texture of one channel and one level, that ends at its edges.
	NewAtlas(width, height int, pix []byte) Texture
	// WriteRows stores rows of a level of a layer, whole blocks of them, from texel y
	// on. Frames in flight may draw with other layers.
	WriteRows(t Texture, i *TextureInfo, layer, level, y, width, height int, data []byte)
	// CopyTexture copies a layer to one of another texture: its smaller levels, from
	// number skip on. i is of the source.
	CopyTexture(dst, src Layer, i *TextureInfo, skip int)
	DeleteTexture(Texture)
	// BindTexture binds a texture of NewTexture to a unit, BindAtlas one of NewAtlas.
	BindTexture(unit int, t Texture)
	BindAtlas(unit int, t Texture)

	// NewShadowMaps makes layers of depths that shaders compare with, and a
	// framebuffer for each.
	NewShadowMaps(edge, layers, unit int) (Texture, []Framebuffer, error)
	BindShadowMaps(unit int, t Texture)
	DeleteFramebuffers([]Framebuffer)
	BindFramebuffer(Framebuffer)

	// NewTarget makes the framebuffers that a picture passes.
	NewTarget(width, height, samples int) (Target, error)
}

// Layer is a layer of a texture.
type Layer struct {
	Texture Texture
	Number  int
}

// TextureInfo describes a texture; all its layers are alike.
type TextureInfo struct {
	Encoding      texfile.Encoding
	SRGB          bool // colours, which shaders get as linear light
	Width, Height int
	Levels        int
	GreenInAlpha  bool // shaders find in green what alpha holds
	Anisotropy    int  // 1 is off
}

// Mip returns the size of a level in texels.
func (i *TextureInfo) Mip(level int) (width, height int) {
	return max(1, i.Width>>level), max(1, i.Height>>level)
}

// Bytes returns the size of so many texels in bytes.
func (i *TextureInfo) Bytes(width, height int) int {
	return i.Encoding.RowBytes(width) * i.Encoding.Rows(height)
}

// LayerBytes returns the size of a layer with all its levels in bytes.
func (i *TextureInfo) LayerBytes() (n int64) {
	for level := range i.Levels {
		n += int64(i.Bytes(i.Mip(level)))
	}
	return n
}

// Target is the framebuffers that a picture passes: samples, what they are
// resolved to, and from there to a surface. Colours are sRGB.
type Target interface {
	// BindScene makes the samples the place to draw, and BindPicture what they
	// are resolved to.
	BindScene()
	BindPicture()
	// Resolve averages the samples, in linear light.
	Resolve()
	// Present copies the picture to a surface.
	Present(to Framebuffer)
	// Read waits for the picture and stores its bytes as they are, the bottom row
	// first.
	Read(pix []byte)
	Close()
}

type state interface {
	Viewport(width, height int)
	// Clear clears what is bound: colour, or nil for none, and depth.
	Clear(color *[4]float32, depth bool)
	// DepthTest, DepthWrite and DepthFar say whether what is nearer hides, whether
	// it is noted, and whether the far plane is at 1 or, reversed, at 0.
	DepthTest(on bool)
	DepthWrite(on bool)
	DepthFar(reversed bool)
	// DepthClamp keeps what lies before the near plane.
	DepthClamp(on bool)
	// DepthOffset moves depths by slope and constant, zeros not at all.
	DepthOffset(slope, constant float32)
	Blend(BlendMode)
	Cull(CullMode)
	// Mirrored says that front faces run clockwise.
	Mirrored(on bool)
	// AlphaToCoverage makes alpha the share of samples.
	AlphaToCoverage(on bool)
	// SRGB says whether colours are linear light, and stored as sRGB, or stored as
	// they are.
	SRGB(on bool)
	// Wireframe draws edges of triangles, moved by slope and constant.
	Wireframe(on bool, slope, constant float32)
}

// BlendMode is how colours are added to what is there.
type BlendMode uint8

// The modes.
const (
	BlendOff BlendMode = iota
	BlendAlpha
	BlendAdd // by alpha
)

// CullMode says which faces are left out.
type CullMode uint8

// The modes.
const (
	CullOff CullMode = iota
	CullBack
	CullFront
)

type draws interface {
	// DrawTriangle draws a triangle without vertices: shaders go by their numbers.
	DrawTriangle()
	// DrawLines draws vertices of the bound Geometry as lines.
	DrawLines(first, count int)
	// DrawTriangles draws indices of the bound Geometry.
	DrawTriangles(count int)
	// DrawCommands draws commands of SetCommands of this frame with the bound
	// vertex array: count from number first on, whose indices have 32 or 16 bits.
	// It returns how many calls of the driver it took.
	DrawCommands(first, count int, wide bool) (calls int)
}

// Message is what a driver says.
type Message struct {
	Kind     MessageKind
	Severity Severity
	ID       uint32
	Text     string
}

// MessageKind is what a message is about.
type MessageKind uint8

// The kinds.
const (
	MessageOther MessageKind = iota
	MessageError
	MessagePerformance
	MessageDeprecated
	MessageUndefined
	MessagePortability
)

var kindNames = [...]string{"other", "error", "performance", "deprecated", "undefined", "portability"}

// String returns the kind's name.
func (k MessageKind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Severity says how bad what a message is about is.
type Severity uint8

// The severities.
const (
	SeverityNotification Severity = iota // what drivers say about themselves without being asked
	SeverityLow
	SeverityMedium
	SeverityHigh
)
