package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/testfile"
)

func sampleReport() *verify.Report {
	return &verify.Report{
		Files: []verify.File{
			{Path: "a.untold", Seconds: 0.25, Findings: []finding.Finding{
				{Code: "hash-mismatch", Severity: finding.Error, Message: "stored <x>", Hint: "fetch again", Record: -1, Offset: 140, Place: "file at byte 0x8c"},
				{Code: "empty-mesh", Severity: finding.Warning, Message: "50 %,\nnothing: else", Hint: "drop it", Record: 3, Offset: -1, Place: "MESH_TABLE[3]"},
			}},
			{Path: "b,1.untold", OK: true, Seconds: 1},
		},
		Errors: 1, Warnings: 1,
	}
}

func TestJUnit(t *testing.T) {
	for _, strict := range []bool{false, true} {
		var b bytes.Buffer
		if err := writeJUnit(&b, sampleReport(), strict); err != nil {
			t.Fatal(err)
		}
		var s struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Time    string `xml:"time,attr"`
				Failure string `xml:"failure"`
				Out     string `xml:"system-out"`
			} `xml:"testcase"`
		}
		if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if s.Tests != 2 || s.Failures != 1 || !strings.Contains(s.Cases[0].Failure, "stored <x>") || s.Cases[1].Failure != "" {
			t.Errorf("%+v", s)
		}
		if s.Cases[0].Time != "0.250" || s.Cases[1].Time != "1.000" || !strings.Contains(b.String(), `failures="1" time="1.250"`) {
			t.Errorf("times: %s", b.String())
		}
		if strings.Contains(s.Cases[0].Failure, "empty-mesh") != strict || strings.Contains(s.Cases[0].Out, "empty-mesh") == strict {
			t.Errorf("strict %v: %+v", strict, s.Cases[0])
		}
	}
}

// sarifLog is what the tests read of SARIF.
type sarifLog struct {
	Version string
	Runs    []struct {
		Tool struct {
			Driver struct {
				Rules []struct{ ID, HelpURI string }
			}
		}
		Results []struct {
			RuleID              string
			Level               string
			PartialFingerprints map[string]string
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           struct {
						StartLine, StartColumn int
						ByteOffset             *int
					}
				}
			}
		}
	}
}

func parseSARIF(t *testing.T, data []byte) (s sarifLog) {
	t.Helper()
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := writeSARIF(&b, sampleReport(), false); err != nil {
		t.Fatal(err)
	}
	s := parseSARIF(t, b.Bytes())
	if s.Version != "2.1.0" || len(s.Runs[0].Tool.Driver.Rules) != 2 || len(s.Runs[0].Results) != 2 {
		t.Fatalf("%s", b.String())
	}
	first, second := s.Runs[0].Results[0], s.Runs[0].Results[1]
	region, other := first.Locations[0].PhysicalLocation.Region, second.Locations[0].PhysicalLocation.Region
	if first.Level != "error" || *region.ByteOffset != 140 || region.StartLine != 1 || other.ByteOffset != nil || other.StartLine != 1 {
		t.Errorf("%+v", s.Runs[0].Results)
	}
	if s.Runs[0].Tool.Driver.Rules[0].HelpURI != findingsPage {
		t.Errorf("help at %q", s.Runs[0].Tool.Driver.Rules[0].HelpURI)
	}
	one, two := first.PartialFingerprints["untoldFinding/v1"], second.PartialFingerprints["untoldFinding/v1"]
	if len(one) != 32 || len(two) != 32 || one == two {
		t.Errorf("fingerprints %q and %q", one, two)
	}
}

// TestFingerprints: they tell findings apart and stay when numbers and places in the
// file change.
func TestFingerprints(t *testing.T) {
	of := func(path string, list ...finding.Finding) (out []string) {
		p := fingerprints{}
		for _, x := range list {
			out = append(out, p.of(path, x))
		}
		return out
	}
	a := finding.Finding{Code: "hash-mismatch", Record: 3, Chunk: "MESH_TABLE", Message: "12", Offset: 7}
	moved := a
	moved.Message, moved.Offset = "13", 99
	b := finding.Finding{Code: "hash-mismatch", Record: 4, Chunk: "MESH_TABLE"}
	first, again := of("x.untold", a, a, b), of("x.untold", moved, moved, b)
	if !slices.Equal(first, again) || first[0] == first[1] || first[1] == first[2] {
		t.Errorf("%v, then %v", first, again)
	}
	if other := of("y.untold", a); other[0] == first[0] {
		t.Error("two files, one fingerprint")
	}
}

// TestLines: a place in a manifest has its line and column, one in a container none.
func TestLines(t *testing.T) {
	path := testfile.Write(t, filepath.Join(t.TempDir(), "a.json"), "{\n \"ä\": [\n]}")
	l := linesOf(&verify.File{Path: path})
	for _, c := range []struct {
		offset       int64
		line, column int
	}{{-1, 1, 1}, {0, 1, 1}, {1, 1, 2}, {2, 2, 1}, {3, 2, 2}, {6, 2, 4}, {11, 3, 1}, {99, 3, 3}} {
		if line, column := l.at(c.offset); line != c.line || column != c.column {
			t.Errorf("byte %d: %d:%d, want %d:%d", c.offset, line, column, c.line, c.column)
		}
	}
	long := linesOf(&verify.File{Path: testfile.Write(t, filepath.Join(t.TempDir(), "b.json"), strings.Repeat("123456\n", 3*lineBlock/7))})
	for _, offset := range []int64{lineBlock - 1, lineBlock, lineBlock + 1, 2*lineBlock + 5, 3*lineBlock - 9} {
		if line, column := long.at(offset); line != int(offset/7)+1 || column != int(offset%7)+1 {
			t.Errorf("byte %d: %d:%d", offset, line, column)
		}
	}
	for _, path := range []string{"https://example.org/a.json", "none.json", "a.untold"} {
		l := linesOf(&verify.File{Path: path})
		if line, column := l.at(5); line != 1 || column != 1 {
			t.Errorf("%s: %d:%d", path, line, column)
		}
	}
	if got := sarifURI(filepath.Join("a b", "c.untold")); got != "a%20b/c.untold" {
		t.Error(got)
	}
	if got := sarifURI("https://example.org/a.json"); got != "https://example.org/a.json" {
		t.Error(got)
	}
}

// TestFailedBudgets: readers of SARIF want a place of every result, those of JUnit a
// number for every time.
func TestFailedBudgets(t *testing.T) {
	r := sampleReport()
	r.Budgets = []budget.Verdict{
		{Figure: "tiles", FailIf: "tiles>0", Failed: true}, {Figure: "tiles", FailIf: "tiles<9", Failed: true}, {Figure: "tile_bytes_max", FailIf: "tile_bytes_max>1k"},
	}
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"out/a.untold", "out/a b.json", "c.json"}, "out/a%20b.json"},
		{[]string{"out/a.untold", "b.untold"}, "out/a.untold"},
		{[]string{"https://example.org/a.untold", "https://example.org/a.JSON?key=1"}, "https://example.org/a.JSON?key=1"},
		{nil, "."},
	} {
		r.Files = nil
		for _, p := range c.paths {
			r.Files = append(r.Files, verify.File{Path: p, OK: true})
		}
		var b bytes.Buffer
		if err := writeSARIF(&b, r, false); err != nil {
			t.Fatal(err)
		}
		results := parseSARIF(t, b.Bytes()).Runs[0].Results
		if len(results) != 2 {
			t.Fatalf("%v: %s", c.paths, b.String())
		}
		prints := map[string]bool{}
		for _, x := range results {
			if len(x.Locations) != 1 {
				t.Fatalf("%v: no place: %+v", c.paths, x)
			}
			place := x.Locations[0].PhysicalLocation
			if place.ArtifactLocation.URI != c.want || place.Region.StartLine != 1 || place.Region.StartColumn != 1 || place.Region.ByteOffset != nil {
				t.Errorf("%v: %+v", c.paths, place)
			}
			prints[x.PartialFingerprints["untoldFinding/v1"]] = true
		}
		if len(prints) != 2 || prints[""] {
			t.Errorf("%v: fingerprints %v", c.paths, prints)
		}
	}

	var b bytes.Buffer
	if err := writeJUnit(&b, r, false); err != nil {
		t.Fatal(err)
	}
	var s struct {
		Cases []struct {
			Time string `xml:"time,attr"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cases {
		if c.Time != "0.000" {
			t.Errorf("the time of a budget is %q", c.Time)
		}
	}
	if len(s.Cases) != 3 {
		t.Errorf("%s", b.String())
	}
}

func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	if err := writeGitHub(&b, sampleReport(), false); err != nil {
		t.Fatal(err)
	}
	const want = "::error file=a.untold,line=1,col=1,title=hash-mismatch::file at byte 0x8c: stored <x> (fetch again)\n" +
		"::warning file=a.untold,line=1,col=1,title=empty-mesh::MESH_TABLE[3]: 50 %25,; nothing: else (drop it)\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
