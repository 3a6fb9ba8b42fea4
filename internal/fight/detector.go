// Package fight finds fights. A [Detector] finds that the state of a world recurs, and a [Path] finds that one value
// cycles. If no state recurs but the writes continue, [OnlyTimes] and [FirstDifference] describe what they change.
package fight

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/threelaws/threelaws/internal/objectdiff"
	"github.com/threelaws/threelaws/sim"
)

// Detector finds fights in a world. In a fight, the world's abstract state (without names, UIDs and versions) recurs.
// The cycle contains a committed write, but no user action and no fault. Every process with enabled actions has acted
// in the cycle. The driver of the world calls Observe, and adds a Fighting record for a fight.
type Detector struct {
	// Busy returns the processes that have an enabled action now. If such a process has not acted within the cycle, the
	// schedule causes the cycle by starving it. If Busy is nil, the cycle must contain every process that has acted
	// since the last user action or fault.
	Busy  func() []string
	Limit int // maximal number of writes in memory, 0 for 65536; at the limit the detector forgets all steps

	names  []string
	writes []landed
	first  map[uint64]int // for each state after a write: the index in writes of the first write that led to it
	last   map[uint64]int // for each recurring state: the index in writes of the last write that led to it
	acted  threads        // the processes (indexes in names) that acted since the last write
	ever   threads        // the processes that acted since the last user action or fault
}

// landed is a write, with the number of its record and the processes that acted since the write before it.
type landed struct {
	record int
	acted  threads
}

const detectorLimit = 1 << 16

// Observe must be called for each step, or for each record, in order. write is true for a committed write. In this case
// hash is the world's abstract state after the write. user is true for a user action or a fault, which restarts the
// detector. If Observe finds a fight, cycle contains the record numbers of its writes.
func (d *Detector) Observe(hash uint64, record int, process string, write, user bool) (cycle []int, found bool) {
	if user {
		d.Reset()
		return nil, false
	}
	at := d.place(process)
	d.acted.add(at)
	d.ever.add(at)
	if !write {
		return nil, false
	}
	limit := d.Limit
	if limit == 0 {
		limit = detectorLimit
	}
	if len(d.writes) >= limit {
		d.Reset()
		d.ever.add(at)
	}
	d.writes = append(d.writes, landed{record, d.acted})
	d.acted = threads{}
	return d.recurs(hash)
}

func (d *Detector) recurs(hash uint64) (cycle []int, found bool) {
	if d.first == nil {
		d.first, d.last = map[uint64]int{}, map[uint64]int{}
	}
	now := len(d.writes) - 1
	from, seen := d.first[hash]
	if !seen {
		d.first[hash] = now
		return nil, false
	}
	if last, again := d.last[hash]; again && d.fair(last, now) {
		from = last
	} else if !d.fair(from, now) {
		d.last[hash] = now
		return nil, false
	}
	for _, w := range d.writes[from+1:] {
		cycle = append(cycle, w.record)
	}
	d.last[hash] = now
	return cycle, true
}

// fair reports whether every process that must act (see Busy) acted after write number from, up to write number to.
func (d *Detector) fair(from, to int) bool {
	var acted threads
	for i := range d.writes[from+1 : to+1] {
		acted.merge(&d.writes[from+1+i].acted)
	}
	if d.Busy == nil {
		for i := range d.names {
			if d.ever.has(i) && !acted.has(i) {
				return false
			}
		}
		return true
	}
	for _, p := range d.Busy() {
		if !acted.has(d.place(p)) {
			return false
		}
	}
	return true
}

// Reset forgets all earlier steps.
func (d *Detector) Reset() {
	d.writes = d.writes[:0]
	clear(d.first)
	clear(d.last)
	d.acted, d.ever = threads{}, threads{}
}

func (d *Detector) place(process string) int {
	if i := slices.Index(d.names, process); i >= 0 {
		return i
	}
	d.names = append(d.names, process)
	return len(d.names) - 1
}

// threads is a set of indexes of processes. Most worlds need only one word.
type threads struct {
	first uint64
	more  []uint64 // the bits of the indexes from 64 on
}

func (t *threads) add(at int) {
	if at < 64 {
		t.first |= 1 << at
		return
	}
	for len(t.more) <= at/64-1 {
		t.more = append(t.more, 0)
	}
	t.more[at/64-1] |= 1 << (at % 64)
}

func (t *threads) has(at int) bool {
	if at < 64 {
		return t.first&(1<<at) != 0
	}
	return at/64-1 < len(t.more) && t.more[at/64-1]&(1<<(at%64)) != 0
}

func (t *threads) merge(u *threads) {
	t.first |= u.first
	for i, w := range u.more {
		if i == len(t.more) {
			t.more = append(t.more, 0)
		}
		t.more[i] |= w
	}
}

// CycleReason formats the records of a cycle for the Reason of a Fighting record, for example "3,5".
func CycleReason(cycle []int) string {
	var parts []string
	for _, n := range cycle {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}

// ParseCycle parses the format of [CycleReason]. It skips parts that are not numbers.
func ParseCycle(s string) []int {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		if n, err := strconv.Atoi(part); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Path is the history of one value, such as a field, an owner or a number. It has at most 24 states. When a state
// recurs, the states since its first occurrence are removed, so that later cycles do not contain them. A is the type of
// an actor.
type Path[A comparable] struct {
	visits []Visit[A]
}

// Visit is a state of the value, with the actor that caused it.
type Visit[A comparable] struct {
	State uint64
	By    A // unset for the state that Begin sets
	At    time.Time
	Words string // description of the write
}

const longestPath = 24

// Begin sets the first state, if the history is empty.
func (p *Path[A]) Begin(state uint64, at time.Time) {
	if len(p.visits) == 0 {
		p.visits = append(p.visits, Visit[A]{State: state, At: at})
	}
}

// Last returns the current state. The second result is false if the history is empty.
func (p *Path[A]) Last() (Visit[A], bool) {
	if len(p.visits) == 0 {
		return Visit[A]{}, false
	}
	return p.visits[len(p.visits)-1], true
}

// Restart replaces the history by one state.
func (p *Path[A]) Restart(v Visit[A]) { p.visits = append(p.visits[:0], v) }

// Clear removes the history.
func (p *Path[A]) Clear() { p.visits = p.visits[:0] }

// Visit adds a state. If v returns to an earlier state, Visit returns the cycle that ends with v, otherwise nil.
func (p *Path[A]) Visit(v Visit[A]) []Visit[A] {
	if n := len(p.visits); n > 0 && p.visits[n-1].State == v.State {
		return nil
	}
	i := slices.IndexFunc(p.visits, func(w Visit[A]) bool { return w.State == v.State })
	if i < 0 {
		if len(p.visits) == longestPath {
			p.visits = append(p.visits[:0], p.visits[1:]...)
		}
		p.visits = append(p.visits, v)
		return nil
	}
	circle := append(slices.Clone(p.visits[i+1:]), v)
	p.visits = p.visits[:i+1]
	p.visits[i].At = v.At
	return circle
}

// OnlyTimes reports whether all differences of two versions of an object are times, for example after a heartbeat. A
// string that contains a JSON object, such as the annotation for leader election, is compared field by field.
func OnlyTimes(a, b any) bool {
	for l := range differences(a, b) {
		was, is := objectdiff.JSON(l.Was), objectdiff.JSON(l.Is)
		if isTime(unquoted(was)) && isTime(unquoted(is)) {
			continue
		}
		if before, after := fieldsIn(was), fieldsIn(is); before == nil || after == nil || !OnlyTimes(before, after) {
			return false
		}
	}
	return true
}

// index matches the part of a path that is the position of an element of a list. A key of a map is no number here.
var index = regexp.MustCompile(`\[\d+\]`)

// OnlyOrder reports whether two versions of an object differ only in the order of lists. Such a difference is often due to
// the random order of a Go map.
func OnlyOrder(a, b any) bool {
	values := map[string]int{} // a path without indexes, and a value there -> how many more of them b has
	for l := range differences(a, b) {
		path, was, is := index.ReplaceAllString(l.Path, "[]"), objectdiff.JSON(l.Was), objectdiff.JSON(l.Is)
		if path == l.Path && !permuted(was, is) {
			return false
		}
		if permuted(was, is) { // the names of the elements of a list, in their order
			was, is = "", ""
		}
		values[path+" "+was]--
		values[path+" "+is]++
	}
	for _, n := range values { //detcheck:ordered all must be zero
		if n != 0 {
			return false
		}
	}
	return len(values) > 0
}

// permuted reports whether two texts are JSON lists with the same elements.
func permuted(was, is string) bool {
	var lists [2][]json.RawMessage
	for i, text := range []string{was, is} {
		if !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &lists[i]) != nil {
			return false
		}
		slices.SortFunc(lists[i], func(a, b json.RawMessage) int { return bytes.Compare(a, b) })
	}
	return slices.EqualFunc(lists[0], lists[1], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// State returns two hashes of an object. Two versions of an object have the same state if [OnlyTimes] reports true for
// them, except that times in JSON strings differ. They have the same shape if only numbers, times, and digits in texts
// differ. An example are the versions of an object with a counter.
func State(object any) (state, shape uint64) {
	fields, is := content(object).(map[string]any)
	if !is {
		data, err := json.Marshal(object)
		if err == nil {
			err = json.Unmarshal(data, &fields)
		}
		if err != nil {
			panic(fmt.Sprintf("fight: %T is no JSON object: %v", object, err))
		}
	}
	meta, _ := fields["metadata"].(map[string]any)
	s, f := hashFields(meta, serverSets...)
	state, shape = hashFields(fields, "metadata")
	return state + s, shape + f
}

// hashFields adds up the hashes of fields, except those with the names in ignored.
func hashFields(fields map[string]any, ignored ...string) (state, shape uint64) {
	for name, value := range fields { //detcheck:ordered a sum
		if slices.Contains(ignored, name) {
			continue
		}
		s, f := hashValue(value)
		key := sim.HashString(name)
		state, shape = state+sim.Mix(key^sim.Mix(s)), shape+sim.Mix(key^sim.Mix(f))
	}
	return state, shape
}

func hashValue(v any) (state, shape uint64) {
	var s, f sim.Hash
	switch v := v.(type) {
	case map[string]any:
		return hashFields(v)
	case []any:
		for i := range v {
			of, like := hashValue(v[i])
			s.Word(of)
			f.Word(like)
		}
	case string:
		if !isTime(v) {
			s.String(v)
		}
		f.String(strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, v))
	case int64:
		s.Word(uint64(v))
	case float64:
		s.Word(math.Float64bits(v))
	case bool:
		s.Bool(v)
		f.Bool(v)
	}
	return uint64(s), uint64(f)
}

// unquoted returns the text of a JSON string without escapes.
func unquoted(value string) string { return strings.Trim(value, `"`) }

// fieldsIn returns the fields of a JSON object in a JSON string. It returns nil for other values.
func fieldsIn(value string) (fields map[string]any) {
	var text string
	if !strings.HasPrefix(value, `"{`) || json.Unmarshal([]byte(value), &text) != nil ||
		json.Unmarshal([]byte(text), &fields) != nil {
		return nil
	}
	return fields
}

// FirstDifference returns the JSON path of the first field in which two versions of an object differ, and both values.
// It returns "" if they are equal. It ignores metadata that the server sets.
func FirstDifference(a, b any) (path, was, is string) {
	for l := range differences(a, b) {
		return l.Path, objectdiff.JSON(l.Was), objectdiff.JSON(l.Is)
	}
	return "", "", ""
}

// differences lists the fields that differ, except metadata that the server sets.
func differences(a, b any) iter.Seq[objectdiff.Leaf] {
	return objectdiff.Each(content(a), content(b), ignored...)
}

// serverSets contains the names of the metadata that the server sets at each write. ignored contains their paths.
var (
	serverSets = []string{"resourceVersion", "generation", "managedFields"}
	ignored    = []string{"metadata.resourceVersion", "metadata.generation", "metadata.managedFields"}
)

// content returns the content of an unstructured object, or the object itself.
func content(object any) any {
	if u, ok := object.(interface{ UnstructuredContent() map[string]any }); ok {
		return u.UnstructuredContent()
	}
	return object
}

// isTime reports whether a string is a time. It parses only strings that look like one, because an error is expensive.
func isTime(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[len("2006-01-02")] != 'T' {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
