package hostqueue

import "slices"

// Queue is the state of one host: how many requests have a place, and which wait for one.
// Those of a class are admitted in the order of arrival, payloads and manifests before
// textures; textures never take all places, so that geometry need not wait for them. A third
// of the places is theirs first: a camera that moves always waits for geometry, and would see
// none of them. T names a request; no two that wait have the same name.
type Queue[T comparable] struct {
	limits  Limits
	active  [classes]int
	waiting [classes][]T
}

// New returns the queue of a host that has no requests.
func New[T comparable](l Limits) *Queue[T] { return &Queue[T]{limits: l} }

// Arrive has a request wait. Admit says when its turn is, which may be at once.
func (q *Queue[T]) Arrive(c Class, name T) { q.waiting[c] = append(q.waiting[c], name) }

// Withdraw takes back a request that waits. It is false for one that does not.
func (q *Queue[T]) Withdraw(c Class, name T) bool {
	at := slices.Index(q.waiting[c], name)
	if at >= 0 {
		q.waiting[c] = slices.Delete(q.waiting[c], at, at+1)
	}
	return at >= 0
}

// Admit gives a place to the request whose turn it is. It is false when none is free for
// any that waits. It is to be called after Arrive and Leave until it is.
func (q *Queue[T]) Admit() (name T, ok bool) {
	c, ok := q.next()
	if !ok {
		return name, false
	}
	name = q.waiting[c][0]
	q.waiting[c] = q.waiting[c][1:]
	q.active[c]++
	return name, true
}

// Leave gives back the place of a request that was admitted.
func (q *Queue[T]) Leave(c Class) { q.active[c]-- }

// Running returns how many requests have a place.
func (q *Queue[T]) Running() (n int) {
	for _, k := range q.active {
		n += k
	}
	return n
}

// Waiting returns how many requests wait for one.
func (q *Queue[T]) Waiting() (n int) {
	for c := range q.waiting {
		n += len(q.waiting[c])
	}
	return n
}

// next returns of which class there is a request that may be admitted.
func (q *Queue[T]) next() (Class, bool) {
	l := &q.limits
	may := func(c Class, most int) bool { return len(q.waiting[c]) > 0 && q.active[c] < most }
	switch textures := l.most[Texture]; {
	case may(SmallTexture, l.most[SmallTexture]):
		return SmallTexture, true
	case q.active[Payload]+q.active[Texture] >= l.all:
		return 0, false
	case may(Texture, min(textures, l.all/3)):
		return Texture, true
	case may(Payload, l.all):
		return Payload, true
	case may(Texture, textures):
		return Texture, true
	}
	return 0, false
}
