// Package fake has what the tests of runtime and its packages share: a clock, a
// loader, and assets and files that are made up.
package fake
