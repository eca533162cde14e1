// Package archtest holds the test of the repository's structure: who may import
// whom. It has no code.
package archtest
