package hostqueue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Small requests for textures and nodes have places of their own, as long as there are any.
func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		small int
		r     Request
		want  Class
	}{
		{12, Request{Size: 1 << 10}, Payload},
		{12, Request{Texture: true, Size: smallTexture}, SmallTexture},
		{12, Request{Texture: true, Size: smallTexture + 1}, Texture},
		{12, Request{Texture: true}, Texture},
		{0, Request{Texture: true, Size: 1}, Texture},
	} {
		l := NewLimits(6, 4, c.small)
		if got := l.ClassOf(c.r); got != c.want {
			t.Errorf("%d places, %+v: %d instead of %d", c.small, c.r, got, c.want)
		}
	}
}

// Where all always wait, textures have a third of the places, but for hosts with two or one,
// and small ones places of their own.
func TestShare(t *testing.T) {
	for _, c := range []struct{ limit, textures, want int }{{6, 4, 2}, {3, 2, 1}, {2, 1, 0}, {1, 1, 0}, {9, 2, 2}} {
		q := New[int](NewLimits(c.limit, c.textures, 5))
		for k := range classes {
			for i := range 2 * c.limit {
				q.Arrive(k, i)
			}
		}
		admit(q)
		small := min(5, 2*c.limit)
		if want := [classes]int{c.limit - c.want, c.want, small}; q.active != want || q.Running() != c.limit+small {
			t.Errorf("%+v: %v, %d", c, q.active, q.Running())
		}
	}
}

// Textures take what payloads leave, but for the last places; payloads go first beyond a third.
func TestOrder(t *testing.T) {
	q := New[string](NewLimits(6, 4, 12))
	arrive := func(c Class, names ...string) (admitted []string) {
		for _, n := range names {
			q.Arrive(c, n)
		}
		return admit(q)
	}
	leave := func(c Class) []string { q.Leave(c); return admit(q) }
	for i, c := range []struct{ got, want []string }{
		{arrive(Texture, "t1", "t2", "t3", "t4", "t5"), []string{"t1", "t2", "t3", "t4"}},
		{arrive(Payload, "p1", "p2", "p3", "p4"), []string{"p1", "p2"}},
		{arrive(SmallTexture, "s1"), []string{"s1"}},
		{leave(Texture), []string{"p3"}}, // three textures are more than their third
		{leave(Texture), []string{"p4"}},
		{leave(Texture), []string{"t5"}},
		{leave(Payload), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("step %d: %v instead of %v", i, c.got, c.want)
		}
	}
	if l := NewLimits(1, 4, 1); l.most[Texture] != 1 {
		t.Error("a host that allows one request serves no textures")
	}
	if l := NewLimits(DefaultRequests, DefaultTextures, DefaultSmall); l.Places() != 60 {
		t.Errorf("%d places", l.Places())
	}
}

// admit admits as many as there are places.
func admit[T comparable](q *Queue[T]) (names []T) {
	for {
		name, ok := q.Admit()
		if !ok {
			return names
		}
		names = append(names, name)
	}
}

// Whatever arrives, leaves and is withdrawn: no limit is passed, nothing waits while it could
// have a place, and those of a class are admitted in the order of arrival.
func TestQueueProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLimits(rapid.IntRange(1, 9).Draw(t, "requests"), rapid.IntRange(1, 9).Draw(t, "textures"), rapid.IntRange(0, 9).Draw(t, "small"))
		q := New[int](l)
		var waiting [classes][]int
		var running []Class
		kind := func() Class {
			return l.ClassOf(Request{
				Texture: rapid.Bool().Draw(t, "texture"),
				Size:    rapid.SampledFrom([]int64{0, 1, smallTexture, smallTexture + 1}).Draw(t, "size"),
			})
		}
		for i := range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				c := kind()
				q.Arrive(c, i)
				waiting[c] = append(waiting[c], i)
			case 2:
				if len(running) > 0 {
					at := rapid.IntRange(0, len(running)-1).Draw(t, "which")
					q.Leave(running[at])
					running = slices.Delete(running, at, at+1)
				}
			default:
				if c := kind(); len(waiting[c]) > 0 {
					at := rapid.IntRange(0, len(waiting[c])-1).Draw(t, "which")
					if !q.Withdraw(c, waiting[c][at]) || q.Withdraw(c, waiting[c][at]) {
						t.Fatal("one that waits is withdrawn once")
					}
					waiting[c] = slices.Delete(waiting[c], at, at+1)
				}
			}
			for _, name := range admit(q) {
				c := slices.IndexFunc(waiting[:], func(w []int) bool { return len(w) > 0 && w[0] == name })
				if c < 0 {
					t.Fatalf("%d is not the first of its class: %v", name, waiting)
				}
				waiting[c], running = waiting[c][1:], append(running, Class(c))
			}
			check(t, q, running, waiting)
		}
	})
}

// check compares a queue with what it is to hold, after all were admitted that could be.
func check(t *rapid.T, q *Queue[int], running []Class, waiting [classes][]int) {
	var active [classes]int
	waits := 0
	for _, c := range running {
		active[c]++
	}
	for _, w := range waiting {
		waits += len(w)
	}
	if q.active != active || q.Running() != len(running) || q.Waiting() != waits {
		t.Fatalf("%v, %d and %d instead of %v, %d and %d", q.active, q.Running(), q.Waiting(), active, len(running), waits)
	}
	full := active[Payload]+active[Texture] >= q.limits.all
	if active[Payload]+active[Texture] > q.limits.all {
		t.Fatalf("too many: %v", active)
	}
	for c := range classes {
		own := active[c] >= q.limits.most[c]
		if active[c] > q.limits.most[c] {
			t.Fatalf("too many of class %d: %v", c, active)
		}
		if len(waiting[c]) > 0 && !own && (c > Texture || !full) {
			t.Fatalf("class %d waits while a place is free: %v", c, active)
		}
	}
}

// Where all others keep arriving, one that waits has its turn before many others have left.
func TestNobodyStarves(t *testing.T) {
	for c := range classes {
		q := New[int](NewLimits(DefaultRequests, DefaultTextures, DefaultSmall))
		var running []Class
		of := map[int]Class{}
		arrive := func(k Class) {
			of[len(of)] = k
			q.Arrive(k, len(of)-1)
		}
		crowd := func() {
			for k := range classes {
				for range 20 {
					arrive(k)
				}
			}
		}
		admitted := func() (names []int) {
			names = admit(q)
			for _, n := range names {
				running = append(running, of[n])
			}
			return names
		}
		crowd()
		admitted()
		arrive(c)
		mine, turns := len(of)-1, 0
		for ; !slices.Contains(admitted(), mine); turns++ {
			crowd()
			q.Leave(running[0]) // the oldest
			running = running[1:]
		}
		if turns > 20*(DefaultRequests+2*DefaultSmall) {
			t.Errorf("class %d waits for %d others", c, turns)
		}
	}
}
