// Package tune looks for settings with which a streamed scene needs fewer bytes for the
// same picture: it tries them, one after the other, and keeps what helps.
//
// What a try is, a cook and runs of the streaming runtime along camera paths, is for the
// caller to say. The search is a coordinate descent: from the best settings so far one
// knob at a time is turned, a number for as long as that helps, until no knob helps any
// more. The same tries give the same result.
package tune
