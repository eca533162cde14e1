package texture

import "sync"

// workers lends goroutines that are idle to whoever has work to divide, so that
// one large texture keeps all of them busy and many textures no more.
type workers struct{ idle chan struct{} }

// newWorkers has room for n goroutines; each one that is at work already has to
// join.
func newWorkers(n int) *workers {
	w := &workers{make(chan struct{}, max(n, 1))}
	for range cap(w.idle) {
		w.idle <- struct{}{}
	}
	return w
}

// join waits for a place and takes it until leave.
func (w *workers) join()  { <-w.idle }
func (w *workers) leave() { w.idle <- struct{}{} }

// divide calls f for consecutive parts of 0..n-1, each of at most size, on the
// caller's goroutine and on idle ones. The caller has joined.
func (w *workers) divide(n, size int, f func(lo, hi int)) {
	var wg sync.WaitGroup
	for lo := 0; lo < n; lo += size {
		hi := min(lo+size, n)
		if hi < n {
			select {
			case <-w.idle:
				wg.Add(1)
				go func() {
					defer wg.Done()
					defer w.leave()
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
