package manifest

import _ "embed"

//go:embed manifest.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of manifests. It accepts a
// text exactly when Decode finds every required key and every type in order;
// what a schema cannot say, such as unique ids, is listed in its description
// and checked by Validate. Keys that the engine passes over have their type in
// an anyOf beside true, for editors: a wrong one is only a warning.
func Schema() []byte { return []byte(schema) }
