package human

import "strconv"

// EnumName returns the name of a value of an enumeration, its number where it has
// none.
func EnumName(names []string, v uint32) string {
	if v < uint32(len(names)) && names[v] != "" {
		return names[v]
	}
	return strconv.FormatUint(uint64(v), 10)
}
