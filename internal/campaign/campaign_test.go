package campaign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]string{
		"8/8": "8/8: shards count from 0, so the last one is 7/8", "-1/8": "-1/8: shards count from 0, so the last one is 7/8",
		"0/0": "0/0: the number of shards is at least 1", "x": `"x" is not a shard: write i/n, as in 0/8`,
		"3":   `"3" is not a shard: write i/n, as in 0/8`,
		"0/1": "<nil>", "7/8": "<nil>", "": "<nil>",
	} {
		if _, err := ParseShard(text); fmt.Sprint(err) != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, total := range []int{0, 1, 7, 1000, 1 << 62} {
		for _, n := range []int{1, 3, 8, 1000} {
			at := 0
			for i := range n {
				from, to := (Shard{i, n}).Range(total)
				if from != at || to < from {
					t.Fatalf("%d/%d of %d begins at %d, not at %d, and ends at %d", i, n, total, from, at, to)
				}
				at = to
			}
			if at != total {
				t.Errorf("%d shards of %d end at %d", n, total, at)
			}
		}
	}
}

// The intervals equal those in textbooks.
func TestOften(t *testing.T) {
	for o, want := range map[Often]string{
		{0, 1000}:   "0 of 1000 schedules, 0 % (95 % interval: 0 to 0.38 %)",
		{3, 1000}:   "3 of 1000 schedules, 0.3 % (95 % interval: 0.1 to 0.88 %)",
		{10, 10}:    "10 of 10 schedules, 100 % (95 % interval: 72 to 100 %)",
		{50, 100}:   "50 of 100 schedules, 50 % (95 % interval: 40 to 60 %)",
		{0, 0}:      "0 of 0 schedules, 0 % (95 % interval: 0 to 100 %)",
		{1, 100000}: "1 of 100000 schedules, 0.001 % (95 % interval: 0.00018 to 0.0057 %)",
	} {
		if got := o.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A large set estimates its size. The estimate is the same for hashes added in any order, one by one or many at once.
func TestSet(t *testing.T) {
	const n = mostMembers + mostMembers/2
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i) * 3
	}
	var whole, parts, other Set
	whole.Add(all)
	parts.Add(all[:n/3])
	parts.Add(all[n/4 : n/2])
	other.Add(all[n/2:])
	other.union(parts.least, parts.cut)
	if !slices.Equal(whole.least, other.least) || whole.cut != other.cut {
		t.Error("two groupings of one set differ")
	}
	if got, exact := whole.Len(); exact || got < n*99/100 || got > n*101/100 {
		t.Errorf("%d members, exact %v, want about %d", got, exact, n)
	}
	if got, exact := parts.Len(); !exact || got != n/2 {
		t.Errorf("%d members, exact %v, want %d", got, exact, n/2)
	}
	for _, s := range []Set{whole, parts, {}} {
		data, err := s.MarshalJSON()
		var back Set
		if err == nil {
			err = back.UnmarshalJSON(data)
		}
		if err != nil || !slices.Equal(back.least, s.least) || back.cut != s.cut {
			t.Errorf("a set of %d is not the same when it is read: %v", len(s.least), err)
		}
	}
}

var head = Head{World: "w", Hash: "0123456789abcdef", Settings: "mix seed=1", Total: 100, Block: 10_000}

// drawn returns a record of random schedules.
func drawn(from, to int, failures ...Failure) *Record {
	r := &Record{Ranges: [][2]int{{from, to}}, Counts: map[string]int{"schedules": to - from, "failed": len(failures)},
		Outcomes: map[string]int{fmt.Sprint("outcome ", from%3): to - from}, Laws: map[string]int{}, Failures: failures}
	for i := from; i < to; i++ {
		r.Seen.Add([]uint64{uint64(i % 70)})
	}
	for _, f := range failures {
		r.Laws[f.Law]++
	}
	return r
}

func failure(index int, story string) Failure {
	return Failure{Law: "l", ID: "L-1", Index: index, Text: "text", Story: &Story{ID: story, Page: "page of " + story}}
}

// write writes the result file of a shard.
func write(t testing.TB, dir string, h Head, s Shard, records ...*Record) string {
	t.Helper()
	l, err := Open(dir, h, s, func(*Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, r := range records {
		if err := l.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	return l.Path
}

// merged returns the merged result of files as text.
func merged(t testing.TB, paths ...string) string {
	t.Helper()
	var m Merge
	for _, p := range paths {
		if err := m.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	for _, r := range m.Results {
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestMergeIsAssociativeAndRepeatable(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, head, Shard{0, 3}, drawn(0, 20, failure(3, "x")), drawn(20, 33))
	b := write(t, dir, head, Shard{1, 3}, drawn(33, 66, failure(40, "y")))
	c := write(t, dir, head, Shard{2, 3}, drawn(66, 100, failure(70, "x"), Failure{Law: "m", ID: "M-1", Index: 80}))
	other := head
	other.World = "v"
	d := write(t, dir, other, Shard{0, 1}, drawn(0, 100))
	save := func(text string) string {
		path := filepath.Join(t.TempDir(), "merged.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := merged(t, a, b, c, d)
	for i, got := range []string{merged(t, d, c, b, a), merged(t, save(merged(t, a, b)), save(merged(t, c, d))),
		merged(t, a, save(merged(t, c, d, b))), merged(t, save(want))} {
		if got != want {
			t.Errorf("%d: got\n%s\nwant\n%s", i, got, want)
		}
	}
	var m Merge
	if err := m.ReadFile(save(want)); err != nil {
		t.Fatal(err)
	}
	if r := m.Results[1]; !r.Complete() || len(r.Missing()) > 0 || r.Counts["schedules"] != 100 || len(r.Stories()) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestBadResults(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, head, Shard{0, 2}, drawn(0, 50))
	changed, set, later := head, head, head
	changed.Hash, set.Settings, later.World = "fedcba9876543210", "mix seed=2", "later"
	path := write(t, dir, later, Shard{0, 1})
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"version":1`), []byte(`"version":2`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.jsonl")
	text, _ = os.ReadFile(first)
	if err := os.WriteFile(bad, append(text, "{\n{}\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{write(t, t.TempDir(), head, Shard{1, 2}, drawn(40, 60)), "overlaps with another result of w: 40 to 49 occurs twice"},
		{write(t, t.TempDir(), changed, Shard{1, 2}, drawn(50, 60)), ":1: result of another world: w has the hash fedcba98 here and 01234567 elsewhere"},
		{write(t, t.TempDir(), set, Shard{1, 2}, drawn(50, 60)), ":1: result of w with other settings: mix seed=2 here, mix seed=1 elsewhere"},
		{write(t, t.TempDir(), head, Shard{1, 2}, drawn(90, 101)), ":2: this is not a record: [90 101] is not a range within 100"},
		{write(t, t.TempDir(), head, Shard{1, 2}, &Record{Ranges: [][2]int{{50, 60}}, Counts: map[string]int{"schedules": 9}}),
			":2: this is not a record: it counts 9 schedules, its ranges have 10"},
		{path, ":1: a result of version 2: this threelaws reads version 1"},
		{bad, "bad.jsonl:"},
		{filepath.Join(dir, "none.jsonl"), "no such file"},
	} {
		var m Merge
		err := errors.Join(m.ReadFile(first), m.ReadFile(c.path))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", filepath.Base(c.path), err, c.want)
		}
	}
}

// A file may be truncated at any byte: its complete records count. The shard continues after them.
func TestCutOff(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, head, Shard{0, 1}, drawn(0, 20), drawn(20, 30))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin := bytes.IndexByte(whole, '\n') + 1
	for n := 0; n < len(whole); n += 7 {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		done := bytes.Count(whole[min(begin, n):n], []byte("\n")) * 20
		var m Merge
		if err := m.ReadFile(path); err != nil || n < begin != (len(m.Results) == 0) || n >= begin && m.Results[0].Done() != done ||
			(len(m.Cut) == 0) != (n > 0 && whole[n-1] == '\n') {
			t.Fatalf("a file that is cut at byte %d is read as: %v, %+v", n, err, m)
		}
		l, err := Open(dir, head, Shard{0, 1}, func(*Record) error { return nil })
		if err != nil || l.Done() != done || l.Continued != (n >= begin) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		err = errors.Join(l.Append(drawn(done, 30)), l.Close())
		if err != nil {
			t.Fatal(err)
		}
		if m = (Merge{}); m.ReadFile(path) != nil || m.Results[0].Done() != 30 || len(m.Cut) > 0 {
			t.Fatalf("a shard that continues a file cut at byte %d has: %+v", n, m)
		}
	}
}

// If two processes work on one shard, the second one that writes gets an error, and the file stays complete.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, head, Shard{0, 1}, drawn(0, 20))
	a, err1 := Open(dir, head, Shard{0, 1}, func(*Record) error { return nil })
	b, err2 := Open(dir, head, Shard{0, 1}, func(*Record) error { return nil })
	if err := errors.Join(err1, err2, a.Append(drawn(20, 30))); err != nil {
		t.Fatal(err)
	}
	if err := b.Append(drawn(20, 40)); err == nil || !strings.Contains(err.Error(), path+": another process works on this shard") {
		t.Errorf("the second process: %v", err)
	}
	if err := errors.Join(a.Append(drawn(30, 100)), a.Close(), b.Close()); err != nil || !strings.Contains(merged(t, path), "[[0,100]]") {
		t.Errorf("the first process: %v, %s", err, merged(t, path))
	}
}

// A full disk causes an error of one line. No result file is hidden, and each world has a separate file.
func TestUnwritableResults(t *testing.T) {
	dir := t.TempDir()
	h := Head{World: "../w/x", Total: 1}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, "_..+w+x-0of1.jsonl")); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, h, Shard{}, func(*Record) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk: %v", err)
	}
}
