package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// secondsFlag is a time as a number of seconds or with a unit.
type secondsFlag struct {
	d   time.Duration
	set bool
}

// String returns the time, "" when unset.
func (s *secondsFlag) String() string {
	if !s.set {
		return ""
	}
	return s.d.String()
}

// Type names the value in help texts.
func (s *secondsFlag) Type() string { return "seconds" }

// Set reads 0.05 or 50ms.
func (s *secondsFlag) Set(text string) error {
	d, err := parseTime(text)
	if err != nil {
		return err
	}
	s.d, s.set = d, true
	return nil
}

// pictureSize is a flag of the form 1280x720.
type pictureSize struct{ width, height int }

// String returns the size, "" when unset.
func (s *pictureSize) String() string {
	if s.width == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", s.width, s.height)
}

// Type names the value in help texts.
func (s *pictureSize) Type() string { return "WxH" }

// Set reads a size.
func (s *pictureSize) Set(text string) error {
	w, h, ok := strings.Cut(strings.ToLower(text), "x")
	width, err1 := strconv.Atoi(strings.TrimSpace(w))
	height, err2 := strconv.Atoi(strings.TrimSpace(h))
	if !ok || err1 != nil || err2 != nil || width < 1 || height < 1 || width > 1<<14 || height > 1<<14 {
		return fmt.Errorf("%q is no size: write 1280x720, each from 1 to 16384", text)
	}
	s.width, s.height = width, height
	return nil
}

// onOff is a flag that is on, off or not given.
type onOff struct{ on, set bool }

// String returns on or off, "" when unset.
func (o *onOff) String() string {
	switch {
	case !o.set:
		return ""
	case o.on:
		return "on"
	}
	return "off"
}

// Type names the value in help texts.
func (o *onOff) Type() string { return "on|off" }

// Set reads on, off, true or false.
func (o *onOff) Set(text string) error {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "on", "true":
		o.on = true
	case "off", "false":
		o.on = false
	default:
		return fmt.Errorf("%q is neither on nor off", text)
	}
	o.set = true
	return nil
}
