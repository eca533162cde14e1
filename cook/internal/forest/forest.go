// Package forest finds what hangs together: disjoint sets of numbers (Galler and
// Fisher, An improved equivalence algorithm, 1964).
package forest

// Forest is disjoint sets of the numbers from 0 on. The least number of a set is its
// root, whatever the order in which sets were united.
type Forest []int32

// New returns a forest of n sets of one number each.
func New(n int) Forest {
	f := make(Forest, n)
	for i := range f {
		f[i] = int32(i)
	}
	return f
}

// Root returns the root of the set that a number is in.
func (f Forest) Root(i int32) int32 {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// Unite makes one set of those that two numbers are in.
func (f Forest) Unite(a, b int32) {
	a, b = f.Root(a), f.Root(b)
	f[max(a, b)] = min(a, b)
}
