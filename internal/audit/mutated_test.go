package audit_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/audit"
)

// whole returns the lines of a recorded log.
func whole(t testing.TB, name string) [][]byte {
	return bytes.SplitAfter(bytes.TrimSpace(unzipped(t, name)), []byte("\n"))
}

func judgedLines(t testing.TB, logs ...[][]byte) *audit.Report {
	var readers []io.Reader
	for _, l := range logs {
		readers = append(readers, bytes.NewReader(bytes.Join(l, nil)))
	}
	return judgedText(t, readers...)
}

// The result does not change if lines are out of order, as they are on a busy server. It does not change either if the
// log is split into files, or if events of irrelevant stages are added.
func TestOrderMakesNoDifference(t *testing.T) {
	stages := func(lines [][]byte) [][]byte {
		var out [][]byte
		for _, l := range lines {
			early := bytes.Replace(l, []byte(`"stage":"ResponseComplete"`), []byte(`"stage":"RequestReceived"`), 1)
			out = append(out, early, l)
		}
		return out
	}
	shuffled := func(lines [][]byte) [][]byte {
		out := append([][]byte{}, lines...)
		r := rand.New(rand.NewPCG(1, 2))
		for from := 0; from < len(out); from += 20 {
			part := out[from:min(from+20, len(out))]
			r.Shuffle(len(part), func(i, k int) { part[i], part[k] = part[k], part[i] })
		}
		return out
	}
	ended := func(lines [][]byte) [][]byte {
		last := lines[len(lines)-1]
		lines[len(lines)-1] = append(bytes.TrimRight(bytes.Clone(last), "\n"), '\n')
		return lines
	}
	for _, c := range recorded {
		lines := ended(whole(t, c.name))
		var odd, even [][]byte
		for i, l := range lines {
			if i%2 == 0 {
				even = append(even, l)
			} else {
				odd = append(odd, l)
			}
		}
		for how, logs := range map[string][][][]byte{
			"stages": {stages(lines)}, "shuffled": {shuffled(lines)}, "two files": {odd, even},
			"rotated": {lines[len(lines)/2:], lines[:len(lines)/2]}, "twice": {lines, lines},
		} {
			violators, laws, fights := short(judgedLines(t, logs...))
			if violators != c.violators || laws != c.laws || fights != c.fights {
				t.Errorf("%s, %s: violators %q, laws %q, fights %q", c.name, how, violators, laws, fights)
			}
		}
	}
}

// If the times in a log are useless, resource versions determine the order.
func TestVersionsDecide(t *testing.T) {
	fraction := regexp.MustCompile(`("stageTimestamp":"[^"]*)\.\d+Z"`)
	for _, c := range recorded {
		lines := whole(t, c.name)
		r := rand.New(rand.NewPCG(5, 6))
		for i, l := range lines {
			lines[i] = append(bytes.TrimRight(fraction.ReplaceAll(l, []byte(`${1}Z"`)), "\n"), '\n')
		}
		for from := 0; from < len(lines); from += 20 {
			part := lines[from:min(from+20, len(lines))]
			r.Shuffle(len(part), func(i, k int) { part[i], part[k] = part[k], part[i] })
		}
		report := judgedLines(t, lines)
		if got := strings.Join(report.Violators(), " "); got != c.violators {
			t.Errorf("%s: violators %q", c.name, got)
		}
		for _, l := range report.Left {
			if strings.HasPrefix(l.Why, "writes that stand") {
				t.Errorf("%s: %d %s", c.name, l.Count, l.Why)
			}
		}
	}
}

// Lost lines cause no additional findings.
func TestLossCausesNoFalsePositive(t *testing.T) {
	bodies := regexp.MustCompile(`"requestObject":.*,"requestReceivedTimestamp"`)
	losses := map[string]func(r *rand.Rand, line []byte) []byte{
		"cut short": func(r *rand.Rand, line []byte) []byte {
			return append(bytes.Clone(line[:r.IntN(len(line))]), '\n')
		},
		"without bodies": func(_ *rand.Rand, line []byte) []byte {
			return bytes.Replace(bodies.ReplaceAll(line, []byte(`"requestReceivedTimestamp"`)),
				[]byte(`"RequestResponse"`), []byte(`"Metadata"`), 1)
		},
		"missing": func(*rand.Rand, []byte) []byte { return nil },
		"unknown kind": func(_ *rand.Rand, line []byte) []byte {
			return bytes.ReplaceAll(line, []byte(`"kind":"Pod"`), []byte(`"kind":"Widget"`))
		},
	}
	for _, c := range recorded {
		lines := whole(t, c.name)
		for how, lose := range losses {
			for _, share := range []int{1, 2, 10} {
				r := rand.New(rand.NewPCG(uint64(share), 3))
				var left [][]byte
				for _, l := range lines {
					if r.IntN(share) == 0 {
						l = lose(r, l)
					}
					left = append(left, l)
				}
				if how != "unknown kind" && share == 1 {
					left = append(left, lines[0]) // a file without any valid line would be refused
				}
				report := judgedLines(t, left)
				for _, who := range report.Violators() {
					if !strings.Contains(c.violators, who) {
						t.Errorf("%s, 1 in %d %s: %s is reported: %s", c.name, share, how, who, report.Text(120))
					}
				}
				if share == 1 && how == "without bodies" && report.Violated {
					t.Errorf("%s without any body: %s", c.name, report.Text(120))
				}
			}
		}
	}
}

// Each reason for skipping lines is reported once, with the number of lines and the first place.
func TestEachFindingIsReportedOnce(t *testing.T) {
	lines := whole(t, "steal")
	junk := append([][]byte{[]byte("no JSON\n"), []byte("{\"kind\":\"Event\",\"apiVersion\":\"v1\"}\n")}, lines...)
	junk = append(junk, []byte("\n{\"kind\""), []byte("\n"))
	r := judgedLines(t, junk)
	got := map[string]string{}
	for _, s := range r.Skipped {
		got[s.Why] = s.First
		if n := strings.Count(r.Text(100), s.First); n != 1 {
			t.Errorf("%s is reported %d times", s.First, n)
		}
	}
	if len(got) != 2 || got["lines that are cut off, or not JSON"] != "log0:1" ||
		got["lines that are not audit.k8s.io/v1 events"] != "log0:2" || !r.Violated {
		t.Errorf("%v, broken %v", got, r.Violated)
	}
}
