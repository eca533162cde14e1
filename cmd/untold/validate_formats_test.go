package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
)

func sampleReport() *verify.Report {
	return &verify.Report{
		Files: []verify.File{
			{Path: "a.untold", Findings: []finding.Finding{
				{Code: "hash-mismatch", Severity: finding.Error, Message: "stored <x>", Hint: "fetch again", Record: -1, Offset: 140, Place: "file at byte 0x8c"},
				{Code: "empty-mesh", Severity: finding.Warning, Message: "50 %,\nnothing: else", Hint: "drop it", Record: 3, Offset: -1, Place: "MESH_TABLE[3]"},
			}},
			{Path: "b,1.untold", OK: true},
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
		if strings.Contains(s.Cases[0].Failure, "empty-mesh") != strict || strings.Contains(s.Cases[0].Out, "empty-mesh") == strict {
			t.Errorf("strict %v: %+v", strict, s.Cases[0])
		}
	}
}

func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := writeSARIF(&b, sampleReport(), false); err != nil {
		t.Fatal(err)
	}
	var s struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				Level     string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ ByteOffset int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	if s.Version != "2.1.0" || len(s.Runs[0].Tool.Driver.Rules) != 2 || len(s.Runs[0].Results) != 2 {
		t.Fatalf("%s", b.String())
	}
	first := s.Runs[0].Results[0]
	if first.Level != "error" || first.Locations[0].PhysicalLocation.Region.ByteOffset != 140 || s.Runs[0].Results[1].Locations[0].PhysicalLocation.Region != nil {
		t.Errorf("%+v", s.Runs[0].Results)
	}
}

func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	if err := writeGitHub(&b, sampleReport(), false); err != nil {
		t.Fatal(err)
	}
	const want = "::error file=a.untold,title=hash-mismatch::file at byte 0x8c: stored <x> (fetch again)\n" +
		"::warning file=a.untold,title=empty-mesh::MESH_TABLE[3]: 50 %25,; nothing: else (drop it)\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
