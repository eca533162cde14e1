// Package editdist tells how far a word is from another one, for messages that
// suggest what was meant.
package editdist

// Distance is Levenshtein's: how many bytes have to be inserted, removed or
// replaced to turn a into b. It takes time in the product of the lengths.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
