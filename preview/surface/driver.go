package surface

// Driver is what a driver of OpenGL says of itself, in its words.
type Driver struct {
	Vendor, Renderer, Version string
}
