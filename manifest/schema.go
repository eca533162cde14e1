package manifest

import (
	_ "embed" // the schema
	"strconv"
	"strings"
)

//go:embed manifest.schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of manifests. It accepts a
// text exactly when Decode finds every required key and every type in order;
// what a schema cannot say, such as unique ids, is listed in its description
// and checked by Validate. Keys that the engine passes over have their type in
// an anyOf beside true, for editors: a wrong one is only a warning.
func Schema() []byte { return []byte(schema) }

// PlanSchema returns the JSON Schema of plans (EncodePlan), with that of manifests in it.
func PlanSchema() []byte {
	const id = "urn:untold:schema:manifest"
	inner := strings.Replace(strings.TrimSpace(schema), "{", "{\n  \"$id\": \""+id+"\",", 1)
	return []byte(`{
"$schema": "https://json-schema.org/draft/2020-12/schema",
"$id": "urn:untold:schema:plan",
"title": "Plan of a cook",
"description": "What a dry run would write: a manifest whose payloads were never made.",
"type": "object",
"required": ["kind", "version", "manifest"],
"properties": {
  "kind": {"const": "` + planKind + `"},
  "version": {"const": ` + strconv.Itoa(planVersion) + `},
  "manifest": {"$ref": "` + id + `"}
},
"additionalProperties": false,
"$defs": {"manifest": ` + inner + `}
}
`)
}
