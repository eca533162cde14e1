package gltfscene

import "github.com/untoldkit/untold/internal/human"

// notebook collects notes: the first of each code wins, later ones count.
type notebook struct {
	list  []Note
	index map[string]int
}

// add counts n occurrences of code.
func (b *notebook) add(n int, warning bool, code, where, message string) {
	if n <= 0 {
		return
	}
	if i, ok := b.index[code]; ok {
		b.list[i].Count += n
		return
	}
	if b.index == nil {
		b.index = make(map[string]int)
	}
	b.index[code] = len(b.list)
	b.list = append(b.list, Note{Code: code, Count: n, Message: human.OneLine(message), Where: human.OneLine(where), Warning: warning})
}

// warn notes one occurrence that may change the result.
func (b *notebook) warn(code, where, message string) { b.add(1, true, code, where, message) }

// info notes one occurrence that is merely good to know.
func (b *notebook) info(code, where, message string) { b.add(1, false, code, where, message) }

// fault notes an error that is no reason to stop; what says what follows.
func (b *notebook) fault(code, what string, err error) {
	place, reason := "", err.Error()
	if e, ok := err.(*Error); ok {
		place, reason = e.Place, e.Reason
	}
	b.warn(code, place, what+": "+reason)
}

// take begins with notes that others have made.
func (b *notebook) take(list []Note) {
	for _, n := range list {
		b.add(n.Count, n.Warning, n.Code, n.Where, n.Message)
	}
}
