package preview

import "time"

// pause lets the browser answer between two long steps of the start: a goroutine that
// waits, however briefly, gives it its thread.
func pause() { time.Sleep(time.Millisecond) }
