// Package levelcheck reads the levels of a cooked scene back and says what they
// keep of the full tiles: from the files alone, with rulers that the cook does not
// use, so that it judges what the cook did.
package levelcheck
