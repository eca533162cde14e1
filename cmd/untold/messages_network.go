package main

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// networkProblem replaces what the system says of a connection by a sentence, where it has
// one that says what to do.
func networkProblem(err error, s string) string {
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return strings.Replace(s, oneLine(name.Error()), "no machine is called "+oneLine(name.Name)+": is the name right, and is there a network?", 1)
	}
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" || op.Addr == nil {
		return s
	}
	say := func(what string) string { return strings.Replace(s, oneLine(op.Error()), what, 1) }
	switch at := op.Addr.String(); {
	case errors.Is(op.Err, syscall.ECONNREFUSED):
		return say("nothing listens at " + at + ": is the server running, and the port right?")
	case errors.Is(op.Err, syscall.ENETUNREACH), errors.Is(op.Err, syscall.EHOSTUNREACH):
		return say("there is no way to " + at + ": is there a network?")
	case op.Timeout():
		return say(at + " does not answer: is the address right, and open to this machine?")
	}
	return s
}
