package evidence

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/scenarios"
)

// Bug is a reported bug, with the scenario file whose exploration finds the bug again.
type Bug struct {
	ID, URL string
	Open    bool   // the bug is not fixed upstream, and the reference controller has it too
	What    string // the first sentence of the comments in the file
	File    *scenarios.File
	By      string // the mutant; "" if the file's own controllers have the bug

	Found     int           // the number of seeds that found the bug
	Schedules int           // the median number of schedules until the bug was found
	Took      time.Duration // the median real time until the bug was found
	Law       string        // the law that the run of the first seed violates
	Steps     int           // the number of the violating line in that run, after minimizing

	at int // index in File.Steps of the step that finds the bug
}

// bugLine is the comment that names the bug of a file.
var bugLine = regexp.MustCompile(`(?m)^# bug (\S+) (\S+)( open)?$`)

// Bugs returns the bugs that the comments of files name, sorted by ID.
func Bugs(files []*scenarios.File) ([]*Bug, error) {
	var all []*Bug
	for _, f := range files {
		text := comments(f)
		for _, m := range bugLine.FindAllStringSubmatch(text, -1) {
			b := &Bug{ID: m[1], URL: m[2], Open: m[3] != "", What: firstSentence(text), File: f}
			b.at = slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool {
				return s.Verb == "mutant" || s.Verb == "explore" && s.Expect
			})
			if b.at < 0 {
				return nil, &scenarios.Error{File: f.Name, Code: scenarios.ExitUsage,
					Text: "no step finds bug " + b.ID + ": a mutant, or an explore with a \"!\""}
			}
			if s := f.Steps[b.at]; s.Verb == "mutant" {
				b.By = s.Word(0)
			}
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b *Bug) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func firstSentence(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" && !strings.HasPrefix(line, "bug ") {
			lines = append(lines, line)
		}
	}
	text = strings.Join(lines, " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, ".")
}

// mostTried is the maximum number of schedules for finding a bug with one seed.
const mostTried = 5000

// search explores the file's world with one seed until it finds the bug. The bug shows as a violated law, or as a
// failed expectation if the golden text of the step says so.
func (b *Bug) search(
	ctx context.Context, g *scenarios.Registry, seed uint64, budget int,
) (*scenarios.Exploration, error) {
	f, err := scenarios.Parse(b.File.Name, b.File.Format())
	if err != nil {
		return nil, err
	}
	o, err := f.Steps[b.at].ExploreOptions()
	if err != nil {
		return nil, err
	}
	o.Seed, o.Schedules, o.Mutant, o.First, o.Workers, o.Budget = seed, mostTried, b.By, true, 1, budget
	o.LawsOnly = !strings.HasPrefix(f.Steps[b.at].Golden, "killed by expect")
	return scenarios.Explore(ctx, f, b.at, g, o)
}

// longFight is the number of steps from which a failure counts as a growing fight. Such a fight ends when the law has
// counted enough writes, so minimizing cannot shorten it.
const longFight = 1000

// Shorten finds the bug with the first seed, and minimizes the failure.
func (b *Bug) Shorten(ctx context.Context, g *scenarios.Registry) error {
	x, err := b.search(ctx, g, 1, 1)
	if err == nil && len(x.Failures) > 0 && x.Failures[0].Page.Step() < longFight {
		x, err = b.search(ctx, g, 1, 0)
	}
	if err != nil {
		return err
	}
	if len(x.Failures) == 0 {
		return fmt.Errorf("%s: bug %s is not found in %d schedules", b.File.Name, b.ID, x.Schedules)
	}
	b.Law, b.Steps = x.Failures[0].Law, x.Failures[0].Page.Step()
	return nil
}

// Measure finds the bug with a number of seeds, and records how long that takes.
func (b *Bug) Measure(ctx context.Context, g *scenarios.Registry, seeds int) error {
	var tried []int
	var took []time.Duration
	for seed := range seeds {
		began := time.Now()
		x, err := b.search(ctx, g, uint64(seed)+1, 1)
		if err != nil {
			return err
		}
		if len(x.Failures) == 0 {
			tried, took = append(tried, mostTried), append(took, time.Since(began))
			continue
		}
		b.Found++
		tried, took = append(tried, x.Failures[0].Index+1), append(took, time.Since(began))
	}
	slices.Sort(tried)
	slices.Sort(took)
	b.Schedules, b.Took = tried[len(tried)/2], took[len(took)/2]
	return ctx.Err()
}
