// Package engineoracle re-implements, for tests, what the reference engine does
// with the text of a manifest: which texts its decoder refuses, what it makes of the
// others, and how it clamps their distances on load. It is for tests alone.
//
// The rules are those of Swift's synthesized Decodable: a key that is required
// and missing or null, and a wrong type of any key that is read, fails the
// whole text; null of an optional key is absence; unknown keys are passed over;
// integers may be written with a fraction of zero; distances and positions are
// single precision, and a number beyond it fails. The package shares no code
// with package manifest, so that tests can hold one against the other.
package engineoracle
