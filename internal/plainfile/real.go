package plainfile

import "path/filepath"

// RealPath returns an absolute path without the links of the part of p that exists.
func RealPath(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(p)
		if up == p {
			return filepath.Join(p, rest)
		}
		p, rest = up, filepath.Join(filepath.Base(p), rest)
	}
}

// Within reports whether a path is another or lies below it. Both are as RealPath gives
// them.
func Within(path, above string) bool {
	rel, err := filepath.Rel(above, path)
	return err == nil && filepath.IsLocal(rel)
}
