package texture

import "sync"

// crew lends goroutines that are idle to whoever has work to divide, so that
// one large texture keeps all of them busy and many textures no more.
type crew struct{ idle chan struct{} }

// newCrew has room for n goroutines; each one that is at work already has to
// join.
func newCrew(n int) *crew {
	c := &crew{make(chan struct{}, max(n, 1))}
	for range cap(c.idle) {
		c.idle <- struct{}{}
	}
	return c
}

// join waits for a place and takes it until leave.
func (c *crew) join()  { <-c.idle }
func (c *crew) leave() { c.idle <- struct{}{} }

// divide calls f for consecutive parts of 0..n-1, each of at most size, on the
// caller's goroutine and on idle ones. The caller has joined.
func (c *crew) divide(n, size int, f func(lo, hi int)) {
	var wg sync.WaitGroup
	for lo := 0; lo < n; lo += size {
		hi := min(lo+size, n)
		if hi < n {
			select {
			case <-c.idle:
				wg.Add(1)
				go func() {
					defer wg.Done()
					defer c.leave()
					f(lo, hi)
				}()
				continue
			default:
			}
		}
		f(lo, hi)
	}
	wg.Wait()
}
