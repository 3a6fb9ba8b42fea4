package campaign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Version is the version of the file format.
const Version = 1

// Head identifies the world and the settings of a result. Only results with equal heads can be merged.
type Head struct {
	Format   string `json:"threelaws"` // always "results"
	Version  int    `json:"version"`
	World    string `json:"world"`
	Hash     string `json:"sha256"`           // SHA-256 of the world's file
	Settings string `json:"settings"`         // all other inputs that determine the set of schedules
	Shards   int    `json:"shards,omitempty"` // the number of shards of an exhaustive search; 0 for random schedules
	Total    int    `json:"total"`            // number of random schedules, or of shards of an exhaustive search
	Block    int    `json:"block,omitempty"`  // the size of a block of schedules; each law keeps one failure per block
}

// Record is one addition to a result. Its numbers count the schedules in Ranges.
type Record struct {
	Ranges   [][2]int       `json:"ranges,omitempty"` // half-open ranges of the schedules run, or of the shards begun
	Ended    []int          `json:"ended,omitempty"`  // the completed shards of an exhaustive search
	Counts   map[string]int `json:"counts,omitempty"`
	Outcomes map[string]int `json:"outcomes,omitempty"`
	Laws     map[string]int `json:"laws,omitempty"` // the number of failed schedules by law
	Seen     Set            `json:"seen,omitzero"`  // hashes of the distinct schedules or states
	Steps    int            `json:"steps,omitempty"`
	Stopped  string         `json:"stopped,omitempty"` // why an exhaustive search is incomplete
	Livelock string         `json:"livelock,omitempty"`
	Fixed    []string       `json:"fixed,omitempty"` // choices that no schedule varied
	Failures []Failure      `json:"failures,omitempty"`

	// Resume is the position from which an exhaustive search continues, in the format of package explore. A merged
	// result has none.
	Resume json.RawMessage `json:"resume,omitempty"`
}

// Failure is the first failed schedule of a law in a block of schedules.
type Failure struct {
	Law      string   `json:"law"`      // the law's name
	Informed bool     `json:"informed"` // the actor knew enough to avoid the violation
	Block    int      `json:"block"`    // index of the block of schedules, or of the shard of an exhaustive search
	Index    int      `json:"index"`    // index of the schedule
	Strategy string   `json:"strategy"`
	ID       string   `json:"id"` // the law's ID
	Text     string   `json:"text"`
	Step     int      `json:"step,omitempty"`
	Length   int      `json:"length,omitempty"`   // the number of steps of the run
	Keys     []string `json:"keys,omitempty"`     // the schedule, if it is not random
	Accepted string   `json:"accepted,omitempty"` // why the failure is accepted; an accepted failure is not minimized
	Story    *Story   `json:"story,omitempty"`    // nil if not minimized yet
}

// Story is a minimized failure.
type Story struct {
	ID    string `json:"id"` // stories with the same ID are equal
	Text  string `json:"text"`
	Small string `json:"small"`           // the size of the minimized failure, in words
	Page  string `json:"page"`            // the page that is printed for the failure
	File  string `json:"file"`            // a scenario file that replays the failure
	Again string `json:"again,omitempty"` // the command that replays File, without the path; "" means replay
}

// Result is the sum of all records of one world.
type Result struct {
	Head
	Record
}

// Is reports whether two failures count as one in a result. They do if ID, Informed and Block are equal.
func (f *Failure) Is(g *Failure) bool {
	return f.ID == g.ID && f.Informed == g.Informed && f.Block == g.Block
}

// Add adds a record. If the ranges of the record overlap those of the result, Add returns an error and changes nothing.
func (r *Result) Add(rec *Record) error {
	ranges, err := join(r.Ranges, rec.Ranges)
	if err != nil {
		return err
	}
	r.Ranges = ranges
	r.Ended = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Ended, rec.Ended))))
	r.Counts, r.Outcomes, r.Laws = sum(r.Counts, rec.Counts), sum(r.Outcomes, rec.Outcomes), sum(r.Laws, rec.Laws)
	r.Seen.Join(rec.Seen)
	r.Steps = max(r.Steps, rec.Steps)
	r.Stopped, r.Livelock = least(r.Stopped, rec.Stopped), least(r.Livelock, rec.Livelock)
	if r.Fixed == nil {
		r.Fixed = rec.Fixed
	}
	for _, f := range rec.Failures {
		i := slices.IndexFunc(r.Failures, func(g Failure) bool { return f.Is(&g) })
		switch {
		case i < 0:
			r.Failures = append(r.Failures, f)
		case f.Index < r.Failures[i].Index, f.Index == r.Failures[i].Index && (f.Story != nil || f.Accepted != ""):
			r.Failures[i] = f
		}
	}
	slices.SortFunc(r.Failures, func(f, g Failure) int {
		informed := 0
		if f.Informed != g.Informed {
			informed = 1
			if f.Informed {
				informed = -1
			}
		}
		return cmp.Or(cmp.Compare(f.Index, g.Index), cmp.Compare(f.Block, g.Block), cmp.Compare(f.ID, g.ID), informed)
	})
	return nil
}

// least returns the smaller of two non-empty texts, so that the result does not depend on their order. If one text is
// empty, it returns the other.
func least(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

func sum(a, b map[string]int) map[string]int {
	if a == nil {
		return maps.Clone(b)
	}
	for k, n := range b {
		a[k] += n
	}
	return a
}

// join merges lists of half-open ranges into a sorted list. It returns an error if ranges overlap.
func join(a, b [][2]int) ([][2]int, error) {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y [2]int) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	var joined [][2]int
	for _, x := range all {
		n := len(joined)
		switch {
		case n > 0 && x[0] < joined[n-1][1]:
			if last := min(x[1], joined[n-1][1]) - 1; last > x[0] {
				return nil, fmt.Errorf("%d to %d occurs twice", x[0], last)
			}
			return nil, fmt.Errorf("%d occurs twice", x[0])
		case n > 0 && x[0] == joined[n-1][1]:
			joined[n-1][1] = x[1]
		default:
			joined = append(joined, x)
		}
	}
	return joined, nil
}

// Done returns the number of completed schedules or shards. Complete compares it with Total.
func (r *Result) Done() int {
	if r.Shards > 0 {
		return len(r.Ended)
	}
	n := 0
	for _, x := range r.Ranges {
		n += x[1] - x[0]
	}
	return n
}

// Missing returns the ranges of schedules that were not run.
func (r *Result) Missing() (ranges [][2]int) {
	at := 0
	for _, x := range append(slices.Clone(r.Ranges), [2]int{r.Total, r.Total}) {
		if at < x[0] {
			ranges = append(ranges, [2]int{at, x[0]})
		}
		at = x[1]
	}
	return ranges
}

// Complete reports whether all schedules or shards are completed, and no search was stopped.
func (r *Result) Complete() bool { return r.Done() == r.Total && r.Stopped == "" }

// Often returns the number of schedules that violated a law, and the number of all schedules.
func (r *Result) Often(law string) Often { return Often{r.Laws[law], r.Counts["schedules"]} }

// Stories returns the failures without duplicates. Two failures are equal if they have the same law and story. Accepted
// failures have no story; they are equal if they have the same law and reason.
func (r *Result) Stories() []Failure {
	var all []Failure
	for _, f := range r.Failures {
		if !slices.ContainsFunc(all, func(g Failure) bool {
			return f.ID == g.ID && f.Accepted == g.Accepted &&
				(f.Story == nil || g.Story != nil && f.Story.ID == g.Story.ID)
		}) {
			all = append(all, f)
		}
	}
	return all
}

// Write writes the result as one file. The file can be merged again.
func (r *Result) Write(to io.Writer) error {
	out := json.NewEncoder(to)
	out.SetEscapeHTML(false)
	if err := out.Encode(r.Head); err != nil {
		return err
	}
	rec := r.Record
	rec.Resume = nil
	return out.Encode(rec)
}
