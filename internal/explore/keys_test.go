package explore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// parseSchedule parses the format of [Schedule.Keys].
func parseSchedule(keys ...string) (s Schedule, err error) {
	for i, k := range keys {
		e, err := ParseEntry(k)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		s = append(s, e)
	}
	return s, nil
}

func TestReplayByKeysHasTheSameHash(t *testing.T) {
	for seed := range uint64(200) {
		toy := randomToy(seed)
		toy.limit = 200
		for _, c := range []sim.Choices{NewUniform(seed), NewPCT(seed, 2, 10), sim.NewSeed(seed),
			&Bytes{Data: []byte("threelaws of robots")}} {
			r := Record(c)
			want := toy.run(r)
			parsed, err := parseSchedule(r.Schedule().Keys()...)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []Schedule{r.Schedule(), parsed} {
				k := Replay(s)
				got := toy.run(k)
				if k.Err() != nil || got.Hash != want.Hash || got.Label != want.Label {
					t.Fatalf("seed %d, %T: hash %x, want %x; %v\n%q", seed, c, got.Hash, want.Hash, k.Err(), s.Keys())
				}
				if got := toy.run(Follow(s)); got.Hash != want.Hash {
					t.Fatalf("seed %d, %T: the replay without Strict has another hash", seed, c)
				}
			}
		}
	}
}

func TestUniformIsTheKernelsSeed(t *testing.T) {
	for seed := range uint64(100) {
		toy := randomToy(seed)
		toy.limit = 100
		a, b := Record(NewUniform(seed)), Record(sim.NewSeed(seed))
		toy.run(a)
		toy.run(b)
		if !slices.Equal(a.Schedule().Keys(), b.Schedule().Keys()) {
			t.Fatalf("seed %d: %q, kernel %q", seed, a.Schedule().Keys(), b.Schedule().Keys())
		}
	}
}

func TestStrictReplayNamesTheStep(t *testing.T) {
	toy := adders(2, 0)
	toy.faults = 1
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"work t0 w read v0", "work t0 w read v0"},
			`entry 2, step 2: "work t0 w read v0" cannot be taken: the enabled actions are ` +
				`work t0 w write v0, work t1 w read v0, fault faults spoil v0`},
		{[]string{"work t0 w read v0", "pick 1 name"}, `entry 2, step 2: "pick 1 name" cannot be taken`},
		{[]string{"work t0 w read v0", "leave"}, `entry 2, step 2: "leave" cannot be taken`},
		{[]string{"work t0 w read v0", "work t0 w write v0", "work t1 w read v0", "work t1 w write v0",
			"work t1 w write v0"},
			`actions are fault faults spoil v0, leave`},
		{[]string{"work t0 w read v0", "work t0 w write v0", "work t1 w read v0", "work t1 w write v0",
			"fault faults spoil v0", "leave"},
			`actions are none: the run was over`},
	} {
		s, err := parseSchedule(c.keys...)
		if err != nil {
			t.Fatal(err)
		}
		k := Replay(s)
		out := toy.run(Record(k))
		if k.Err() == nil || !strings.Contains(k.Err().Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.keys, k.Err(), c.want)
		}
		if k.Ended() && out.Settled {
			t.Errorf("%q: a replay that failed counts as settled", c.keys)
		}
	}
}

func TestLenientReplaySkips(t *testing.T) {
	toy := adders(2, 0)
	s, err := parseSchedule("work t9 none", "work t1 w read v0", "pick 3 x", "leave", "work t0 w read v0")
	if err != nil {
		t.Fatal(err)
	}
	r := Record(Follow(s))
	toy.run(r)
	want := "work t1 w read v0,work t0 w read v0,work t0 w write v0,work t1 w write v0"
	if got := strings.Join(r.Schedule().Keys(), ","); got != want {
		t.Errorf("took %s, want %s", got, want)
	}
	if n := r.Schedule().Deviations(); n != 1 {
		t.Errorf("%d deviations, want 1: the other entries are the default", n)
	}
}

func TestParseEntryErrors(t *testing.T) {
	for _, c := range []struct{ key, want string }{
		{"", "not an action"}, {"wrok t0", "unknown class wrok; did you mean work?"},
		{"plough t0", "respond, execute, deliver, work, user, timer, fault"},
		{"pick x name", "a pick is written"}, {"pick -1 name", "a pick is written"}, {"work", "not an action"},
	} {
		_, err := parseSchedule("leave", c.key)
		if err == nil || !strings.HasPrefix(err.Error(), "entry 2: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.key, err)
		}
	}
}
