package main

import (
	"fmt"
	"io"
)

// head and row print a table for people who watch.
func head(out io.Writer) {
	fmt.Fprintf(out, "%-12s %5s %9s %6s %8s %3s %9s %2s %9s %8s %7s %2s %7s %7s %2s %9s %2s %9s %6s %9s %7s %7s  %s\n",
		"model", "ratio", "triangles", "got %", "RMS", "", "Blender", "", "update", "max", "normal", "", "update", "seen", "", "Blender", "", "update", "across", "claimed", "Mtri/s", "B/vert", "stopped because")
}

func row(out io.Writer, c cell, refs map[key]reference) {
	r := refs[key{c.Model, c.Ratio}]
	b, _ := verdict(c.RMS, r.blender, r.decimals)
	u, _ := verdict(c.RMS, r.update, r.decimals)
	n, _ := verdict(c.Normal, r.normal, r.degrees)
	bs, us := seenBy(&c, r.blenderSeen), seenBy(&c, r.updateSeen)
	p, _ := verdict(c.Seen, bs, seenDecimals)
	q, _ := verdict(c.Seen, us, seenDecimals)
	if r.stuck {
		u, n, q = "/", "/", "/"
	}
	if r.blenderStuck {
		b, p = "/", "/"
	}
	fmt.Fprintf(out, "%-12s %5g %9d %6.2f %8.5f %3s%9s %3s%9s %8.3f %7.2f %3s%7s %7s %3s%9s %3s%9s %6s %9.4f %7.2f %7.0f  %s\n",
		c.Model, c.Ratio, c.Reached, 100*float64(c.Reached)/float64(c.Source), c.RMS, b, figure(r.blender, r.decimals), u, figure(r.update, r.decimals),
		c.Max, c.Normal, n, figure(r.normal, r.degrees),
		figure(c.seen(), seenDecimals), p, figure(bs, seenDecimals), q, figure(us, seenDecimals), across(&c), c.Claimed, c.Speed, c.Memory, c.Stop)
}

// figure prints a reference, "-" for none.
func figure(v *float64, decimals int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, *v)
}
