// Package licenses holds the licence texts of the software that the binaries
// contain. scripts/licenses writes them from the module graph.
package licenses

import _ "embed" // the file

// ThirdParty is the text of THIRD_PARTY_LICENSES.
//
//go:embed THIRD_PARTY_LICENSES
var ThirdParty string
