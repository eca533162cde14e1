// Package hostqueue is the rule by which requests to one host wait for each other: of
// which classes they are, how many of each may run at a time and which one goes next.
// Package remote follows it over a network, package simulate over one that is modelled.
// It has no goroutines and no clock; a Queue belongs to one goroutine at a time.
package hostqueue
