// Package imagediff says how different two pictures look.
//
// FLIP is the perceptual difference of Andersson et al., "FLIP: A Difference
// Evaluator for Alternating Images" (2020), in its form for pictures of low
// dynamic range: a map of what a viewer notices when one picture is flipped to
// the other at a given distance, from 0 (the same) to 1. SSIM is the structural
// similarity of Wang et al., "Image Quality Assessment: From Error Visibility
// to Structural Similarity" (2004), from 1 (the same) downwards.
//
// Pictures are sRGB with 8 bits a channel; alpha is ignored. The same pictures
// give the same figures whatever the number of processors.
package imagediff
