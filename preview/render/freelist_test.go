package render

import (
	"testing"

	"pgregory.net/rapid"
)

// TestFreeList: ranges never overlap, counts are right, and what is released
// joins up again.
func TestFreeList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 200).Draw(t, "size")
		f := newFreeList(size)
		var held []span
		used := 0
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				n := rapid.IntRange(0, 40).Draw(t, "n")
				s, ok := f.alloc(n)
				if !ok {
					for _, h := range f.free {
						if h.n >= n {
							t.Fatalf("%d units refused, a hole has %d", n, h.n)
						}
					}
					return
				}
				if s.n != n || s.at < 0 || s.end() > size {
					t.Fatalf("got %v for %d units of %d", s, n, size)
				}
				for _, h := range held {
					if n > 0 && s.at < h.end() && h.at < s.end() {
						t.Fatalf("%v overlaps %v", s, h)
					}
				}
				if n > 0 {
					held = append(held, s)
					used += n
				}
			},
			"release": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "i")
				f.release(held[i])
				used -= held[i].n
				held = append(held[:i], held[i+1:]...)
			},
			"": func(t *rapid.T) {
				free := 0
				for i, h := range f.free {
					if h.n <= 0 || i > 0 && f.free[i-1].end() >= h.at {
						t.Fatalf("holes %v", f.free)
					}
					free += h.n
				}
				if f.used != used || free != size-used {
					t.Fatalf("used %d and free %d of %d, want %d used", f.used, free, size, used)
				}
			},
		})
		for _, h := range held {
			f.release(h)
		}
		if size > 0 && (len(f.free) != 1 || f.free[0] != span{0, size}) {
			t.Fatalf("at the end the holes are %v", f.free)
		}
	})
}

func TestFreeListTakesTheSmallestHole(t *testing.T) {
	f := newFreeList(100)
	a, _ := f.alloc(50)
	b, _ := f.alloc(10)
	c, _ := f.alloc(8)
	if _, ok := f.alloc(30); !ok {
		t.Fatal("no room")
	}
	f.release(a)
	f.release(c)
	if s, ok := f.alloc(8); !ok || s != c {
		t.Errorf("got %v, want the hole %v; %v stays between", s, c, b)
	}
}
