package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints rows in aligned columns. Columns whose header starts with ">"
// are right-aligned.
type table struct {
	header []string
	rows   [][]string
	limit  int // rows printed, 0 for all
}

func newTable(limit int, header ...string) *table { return &table{header: header, limit: limit} }

func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = oneLine(fmt.Sprint(c))
	}
	t.rows = append(t.rows, row)
}

func (t *table) print(w io.Writer) {
	rows := t.rows
	if t.limit > 0 && len(rows) > t.limit {
		rows = rows[:t.limit]
	}
	width := make([]int, len(t.header))
	for i, h := range t.header {
		width[i] = utf8.RuneCountInString(strings.TrimPrefix(h, ">"))
		for _, r := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(r[i]))
		}
	}
	var b strings.Builder
	line := func(cells []string) {
		var l strings.Builder
		for i, c := range cells {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if strings.HasPrefix(t.header[i], ">") {
				l.WriteString(pad + c + "  ")
			} else {
				l.WriteString(c + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	head := make([]string, len(t.header))
	for i, h := range t.header {
		head[i] = strings.TrimPrefix(h, ">")
	}
	line(head)
	for _, r := range rows {
		line(r)
	}
	if n := len(t.rows) - len(rows); n > 0 {
		fmt.Fprintf(&b, "... %d more rows (--limit 0 shows all)\n", n)
	}
	io.WriteString(w, b.String())
}
