//go:build !js

package preview

// pause does nothing: others have a thread of their own.
func pause() {}
