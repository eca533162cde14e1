package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/human"
)

// reportFormats are the ways to print a validation report. strict says that
// warnings fail, too.
var reportFormats = map[string]func(w io.Writer, r *verify.Report, strict bool) error{
	"json":   func(w io.Writer, r *verify.Report, _ bool) error { return writeJSON(w, r) },
	"junit":  writeJUnit,
	"sarif":  writeSARIF,
	"github": writeGitHub,
}

// writeJUnit prints one test case per file, as CI systems show them. What
// fails the run is a failure, other findings go to the case's output.
func writeJUnit(w io.Writer, r *verify.Report, strict bool) error {
	type message struct {
		Message string `xml:"message,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"` // in seconds
		Failure *message `xml:"failure"`
		Out     *message `xml:"system-out"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	s := suite{Name: "untold validate", Tests: len(r.Files)}
	took := 0.0
	for i := range r.Files {
		f := &r.Files[i]
		c := testCase{Name: f.Path, Class: "untold.validate", Time: junitSeconds(f.Seconds)}
		took += f.Seconds
		var fatal, rest []string
		for _, x := range f.Findings {
			line := x.String()
			if x.Severity == finding.Error || strict && x.Severity == finding.Warning {
				fatal = append(fatal, line)
			} else {
				rest = append(rest, line)
			}
		}
		if fatal != nil {
			s.Failures++
			c.Failure = &message{human.Plural(len(fatal), "finding"), strings.Join(fatal, "\n")}
		}
		if rest != nil {
			c.Out = &message{Text: strings.Join(rest, "\n")}
		}
		s.Cases = append(s.Cases, c)
	}
	s.Tests += len(r.Budgets)
	for i := range r.Budgets {
		v := &r.Budgets[i]
		c := testCase{Name: "budget " + v.FailIf, Class: "untold.validate", Time: junitSeconds(0)}
		if v.Failed {
			s.Failures++
			c.Failure = &message{"1 budget", v.Failure()}
		}
		s.Cases = append(s.Cases, c)
	}
	s.Time = junitSeconds(took)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// budgetRule stands for a budget that failed where a finding has its code.
const budgetRule = "budget"

// junitSeconds is a time as JUnit's reports have it.
func junitSeconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// writeSARIF prints the Static Analysis Results Interchange Format 2.1.0.
func writeSARIF(w io.Writer, r *verify.Report, _ bool) error {
	type m = map[string]any
	levels := map[finding.Severity]string{finding.Error: "error", finding.Warning: "warning", finding.Info: "note"}
	rules, results := []m{}, []m{}
	seen := map[finding.Code]bool{}
	prints := fingerprints{}
	for i := range r.Files {
		f := &r.Files[i]
		lines := linesOf(f)
		for _, x := range f.Findings {
			if !seen[x.Code] {
				seen[x.Code] = true
				rules = append(rules, m{"id": x.Code, "help": m{"text": x.Hint}, "helpUri": findingsPage, "defaultConfiguration": m{"level": levels[x.Severity]}})
			}
			line, column := lines.at(x.Offset)
			region := m{"startLine": line, "startColumn": column}
			if x.Offset >= 0 {
				region["byteOffset"] = x.Offset
			}
			place := m{"artifactLocation": m{"uri": sarifURI(f.Path)}, "region": region}
			results = append(results, m{
				"partialFingerprints": m{"untoldFinding/v1": prints.of(f.Path, x)},
				"ruleId":              x.Code, "level": levels[x.Severity], "message": m{"text": oneLine(x.Place + ": " + x.Message)},
				"locations": []m{{"physicalLocation": place}},
			})
		}
	}
	for i := range r.Budgets {
		if v := &r.Budgets[i]; v.Failed {
			if !seen[budgetRule] {
				seen[budgetRule] = true
				rules = append(rules, m{"id": budgetRule, "help": m{"text": "change the scene or how it is cooked, or the budget"}, "helpUri": budgetsPage, "defaultConfiguration": m{"level": "error"}})
			}
			place := m{"artifactLocation": m{"uri": sarifURI(budgetPlace(r))}, "region": m{"startLine": 1, "startColumn": 1}}
			results = append(results, m{
				"partialFingerprints": m{"untoldFinding/v1": prints.of(budgetPlace(r), finding.Finding{Code: budgetRule, Pointer: v.Figure})},
				"ruleId":              budgetRule, "level": "error", "message": m{"text": oneLine(v.Failure())},
				"locations": []m{{"physicalLocation": place}},
			})
		}
	}
	return writeJSON(w, m{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []m{{"tool": m{"driver": m{"name": "untold", "version": version, "informationUri": homePage, "rules": rules}}, "results": results}},
	})
}

// writeGitHub prints workflow commands, which GitHub shows at the files.
func writeGitHub(w io.Writer, r *verify.Report, _ bool) error {
	commands := map[finding.Severity]string{finding.Error: "error", finding.Warning: "warning", finding.Info: "notice"}
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for i := range r.Files {
		f := &r.Files[i]
		lines := linesOf(f)
		for _, x := range f.Findings {
			line, column := lines.at(x.Offset)
			_, err := fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", commands[x.Severity], property.Replace(filepath.ToSlash(f.Path)), line, column,
				property.Replace(string(x.Code)), data.Replace(oneLine(fmt.Sprintf("%s: %s (%s)", x.Place, x.Message, x.Hint))))
			if err != nil {
				return err
			}
		}
	}
	for i := range r.Budgets {
		if v := &r.Budgets[i]; v.Failed {
			if _, err := fmt.Fprintf(w, "::error file=%s,line=1,title=%s::%s\n", property.Replace(filepath.ToSlash(budgetPlace(r))), budgetRule, data.Replace(oneLine(v.Failure()))); err != nil {
				return err
			}
		}
	}
	return nil
}
