package render_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

var shared = ref("ConfigMap", "shared")

// tape returns a history with these records. A record without a step gets the next step.
func tape(records ...sim.Record) *sim.History {
	h := &sim.History{}
	for i, r := range records {
		r.Index = i
		if r.Step == 0 {
			r.Step = i + 1
		}
		if r.Cause == 0 {
			r.Cause = -1
		}
		h.Records = append(h.Records, r)
	}
	return h
}

// If two controllers reconcile a kind, the actor is the controller. Otherwise it is the object, with a number.
func TestActor(t *testing.T) {
	sync := func(process string, r sim.Ref) sim.Record {
		return sim.Record{Op: sim.Commit, Process: process, For: r, Verb: "update", Object: r, Before: configMap(nil),
			After: configMap(nil)}
	}
	for _, c := range []struct {
		name    string
		records []sim.Record
		want    []string
	}{
		{"one controller", []sim.Record{sync("replicaset", set), sync("kubelet", pod)},
			[]string{"rs/web-1", "pod/web-1-1"}},
		{"instances of one", []sim.Record{sync("replicaset", set), sync("replicaset#2", set)},
			[]string{"rs/web-1", "rs/web-1#2"}},
		{"two controllers", []sim.Record{sync("a", shared), sync("b", shared), sync("replicaset", set)},
			[]string{"a: cm/shared", "b: cm/shared", "rs/web-1"}},
		{"two controllers, one twice", []sim.Record{sync("a", shared), sync("a#2", shared), sync("b", shared)},
			[]string{"a: cm/shared", "a#2: cm/shared", "b: cm/shared"}},
		{"no object", []sim.Record{sync("gc", sim.Ref{})}, []string{"gc"}},
	} {
		var got []string
		for _, l := range render.Timeline(tape(c.records...), render.Options{}) {
			got = append(got, l.Who)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// fight returns a history in which two controllers overwrite a field. Each round also contains a status write.
func fight() (*sim.History, render.Mark) {
	one, two := configMap(map[string]string{"v": "1"}), configMap(map[string]string{"v": "2"})
	write := func(process string, before, after any) sim.Record {
		return sim.Record{Op: sim.Commit, Process: process, For: shared, Verb: "update", Object: shared, Before: before,
			After: after}
	}
	noise := sim.Record{Op: sim.Commit, Process: "b", For: shared, Verb: "update", Subresource: "status",
		Object: shared, Before: one, After: one}
	h := tape(sim.Record{Op: sim.Commit, Process: "user", Verb: "create", Object: shared, After: one},
		write("a", one, two), write("b", two, one), noise, write("a", one, two), write("b", two, one), noise,
		sim.Record{Op: sim.Fighting, Verb: "fight"})
	return h, render.Mark{Record: 7, Law: "never-fight", Sentence: "Controllers settle.",
		Text: "the state recurs after 3 writes", Cycle: []int{4, 5, 6}}
}

// A fight is described with both controllers and their writes, and with the number of hidden writes. Its picture has
// edges, although there are no owners.
func TestFight(t *testing.T) {
	h, b := fight()
	p := render.NewPage(h, b, 1)
	p.Draw("threelaws show --as dot f.txtar")
	golden(t, "fight.txt", p.Text())
	golden(t, "fight.dot", render.DOT(render.Around(h, b.Cycle), render.Acts(h, p.Lines, b.Cycle)))
	if first, last, ok := render.Cycle(render.Timeline(h, render.Options{From: 1})); !ok || first != 1 || last != 2 {
		t.Errorf("the cycle is %d-%d, %v; want 1-2", first, last, ok)
	}
}

// If a fight is about a field that counts up, its rounds are still equal.
func TestCycleOfOtherValues(t *testing.T) {
	var records []sim.Record
	for i := range 8 {
		process := []string{"a", "b"}[i%2]
		records = append(records,
			sim.Record{Op: sim.Commit, Process: process, For: shared, Verb: "update", Object: shared,
				Before: configMap(map[string]string{process: strings.Repeat("x", i)}),
				After:  configMap(map[string]string{process: strings.Repeat("x", i+1)})})
	}
	if first, last,
		ok := render.Cycle(render.Timeline(tape(records...), render.Options{})); !ok || first != 1 || last != 2 {
		t.Errorf("the cycle is %d-%d, %v; want 1-2", first, last, ok)
	}
}

// A write that is based on a stale cache is marked in every format. A deletion that is completed in the same step is
// stale if its request was.
func TestStale(t *testing.T) {
	old, now, going := configMap(nil), configMap(map[string]string{"a": "1"}), configMap(map[string]string{"a": "1"})
	del := func(saw any, step int) []sim.Record {
		return []sim.Record{
			{Op: sim.Commit, Step: step, Process: "gc", Verb: "delete", Object: shared, Before: now, After: going,
				Saw: saw},
			{Op: sim.Commit, Step: step, Process: "gc", Verb: "delete", Object: shared, Before: going, Saw: saw},
		}
	}
	change := sim.Record{Op: sim.Commit, Process: "user", Verb: "update", Object: shared, Before: old, After: now}
	for _, c := range []struct {
		saw  any
		mark bool
	}{{old, true}, {now, false}} {
		lines := render.Timeline(tape(append([]sim.Record{change}, del(c.saw, 9)...)...), render.Options{})
		if len(lines) != 2 || lines[1].Stale != c.mark {
			t.Fatalf("lines are %+v, want two, the second stale: %v", lines, c.mark)
		}
		if strings.Contains(render.Text(lines), "~ 2") != c.mark ||
			strings.Contains(render.Story(lines, 0), "~     2") != c.mark {
			t.Errorf("marks are wrong in\n%s%s", render.Text(lines), render.Story(lines, 0))
		}
	}
}

// Owners are shown for every violation. If a settled world violates a law, these are the owners of the objects in the
// text. They are also shown for a refused request.
func TestOwnersAtEveryViolation(t *testing.T) {
	owner, orphan := thing(), thing(ownedBy(set))
	base := []sim.Record{
		{Op: sim.Commit, Process: "user", Verb: "create", Object: set, After: owner},
		{Op: sim.Commit, Process: "user", Verb: "create", Object: shared, After: thing()},
		{Op: sim.Commit, Process: "replicaset", For: set, Verb: "create", Object: pod, After: orphan},
	}
	related := "rs/web-1\n└─ pod/web-1-1\n"
	nameless := set
	nameless.UID = ""
	for _, c := range []struct {
		name string
		last sim.Record
		text string
		want string
	}{
		{"when settled, named", sim.Record{Op: sim.Settled}, "rs/web-1 wants 2, owns 1", related},
		{"when settled, unnamed", sim.Record{Op: sim.Settled}, "too few", "cm/shared\n" + related},
		{"refused", sim.Record{Op: sim.Refusal, Process: "p", Verb: "update", Object: nameless, Code: 409}, "",
			related},
		{"recurs", sim.Record{Op: sim.Fighting, Verb: "fight"}, "", "cm/shared\n" + related},
	} {
		p := render.NewPage(tape(append(slices.Clone(base), c.last)...), render.Mark{Record: 3, Law: "l", Text: c.text},
			2)
		if p.After != c.want {
			t.Errorf("%s: owners after are\n%swant\n%s", c.name, p.After, c.want)
		}
		if !strings.Contains(p.Before, "rs/web-1") {
			t.Errorf("%s: owners before are %s", c.name, p.Before)
		}
		if p.Draw("dot"); p.Picture != "dot" {
			t.Errorf("%s: the page has no picture of the owner", c.name)
		}
	}
	gone := sim.Record{Op: sim.Commit, Process: "gc", Verb: "delete", Object: set, Before: owner}
	p := render.NewPage(tape(base[0], gone), render.Mark{Record: 1, Law: "l"}, 0)
	if p.Before != "rs/web-1\n" || p.After != "(gone)\n" {
		t.Errorf("around a deletion the owners are %q and %q", p.Before, p.After)
	}
	p = render.NewPage(tape(sim.Record{Op: sim.Commit, Process: "user", Verb: "create", Object: set, After: owner}),
		render.Mark{Law: "l"}, 0)
	if p.Before != "(not created yet)\n" {
		t.Errorf("before a creation the owners are %q", p.Before)
	}
	if p.Draw("dot"); p.Picture != "" {
		t.Error("the page has a picture, but there are no edges")
	}
}

const stack = `goroutine 21 [running]:
runtime/debug.Stack()
	/go/src/runtime/debug/stack.go:26 +0x5e
github.com/threelaws/threelaws/sim/host.(*worker).syncOnce.func1()
	/m/sim/host/worker.go:99 +0x9c
panic({0x1056e60?, 0x1ac5c60?})
	/go/src/runtime/panic.go:783 +0x132
example.com/op.(*reconciler).size(...)
	/home/me/op/size.go:12
example.com/op.(*reconciler).Sync(0xc0001, {0x1, 0x2})
	/home/me/op/sync.go:33 +0x1d
github.com/threelaws/threelaws/sim/host.(*worker).syncOnce(0xc00022c008)
	/m/sim/host/worker.go:101 +0x8d
main.main()
	/home/me/main.go:1 +0x1
`

// The page of a world that does not settle shows the reconcile errors and their numbers. It omits keys that succeeded
// later.
func TestErrors(t *testing.T) {
	end := func(process string, r sim.Ref, text, reason string) sim.Record {
		return sim.Record{Op: sim.SyncEnd, Process: process, For: r, Verb: "sync", Message: text, Reason: reason}
	}
	h := tape(
		end("replicaset", set, "cured", ""), end("replicaset", set, "", ""),
		end("widget", shared, "no room", ""), end("widget", shared, "no room", ""), end("widget", shared, "late", ""),
		end("op", sim.Ref{Name: "key"}, "panic in op while syncing key: out of range\n"+stack, "panic"),
		end("widget", shared, "no room", ""),
		sim.Record{Op: sim.FaultHit, Process: "p", Verb: "hold"})
	p := render.NewPage(h, render.Mark{Record: 7, Law: "settle", Sentence: "The world settles."}, 0)
	golden(t, "errors.txt", p.Text())
	uid := "b0506dd6-4d5c-4202-890d-7e33257417d9"
	owner := sim.Ref{Kind: "ConfigMap", Namespace: "default", Name: "owner", UID: uid}
	h2 := tape(sim.Record{Op: sim.Commit, Object: owner, After: thing()},
		end("gc", sim.Ref{Name: "delete " + uid}, "not seen yet", ""))
	if got := render.ErrorsBefore(h2, 2); len(got) != 1 || got[0].Key != "delete cm/owner" {
		t.Errorf("a key that contains a UID is shown as %+v", got)
	}
	if got := render.ErrorsBefore(h, 1); len(got) != 1 || got[0].Text != "cured" {
		t.Errorf("before the key succeeded, the errors are %+v", got)
	}
}

// The keys of a page's JSON are in lowerCamelCase.
func TestPageJSON(t *testing.T) {
	h, b := orphan()
	p := render.NewPage(h, b, 3)
	p.Errors = []render.Error{{Process: "p", Stack: []string{"f"}}}
	p.Violation.Cycle = []int{1}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`"([A-Za-z]+)":`).FindAllStringSubmatch(string(data), -1)
	if len(keys) < 20 {
		t.Fatalf("only %d keys in %s", len(keys), data)
	}
	for _, k := range keys {
		if k[1][0] < 'a' {
			t.Errorf("key %s is not in lowerCamel", k[1])
		}
	}
}

// A page uses the given width, but at least the minimal width.
func TestWide(t *testing.T) {
	h, b := orphan()
	b.Sentence = strings.Repeat("word ", 50)
	p := render.NewPage(h, b, 3)
	widest := func(text string) (n int) {
		for line := range strings.Lines(text) {
			n = max(n, len([]rune(strings.TrimSuffix(line, "\n"))))
		}
		return n
	}
	if n := widest(p.Wide(160)); n <= render.Width || n > 160 {
		t.Errorf("the widest line of 160 columns has %d", n)
	}
	for _, width := range []int{80, 90} {
		if n := widest(p.Wide(width)); n > width {
			t.Errorf("the widest line of %d columns has %d:\n%s", width, n, p.Wide(width))
		}
	}
	if p.Wide(40) != p.Wide(render.Narrowest) {
		t.Error("a page is narrower than its columns")
	}
}

// A page leaves out the middle of a long story, but no violations. Story leaves out nothing.
func TestLongStory(t *testing.T) {
	var records []sim.Record
	for range 200 {
		records = append(records, sim.Record{Op: sim.Commit, Process: "a", Verb: "update", Object: shared,
			Before: configMap(nil), After: configMap(nil)})
	}
	p := render.NewPage(tape(records...), render.Mark{Law: "keep-quiet", Text: "says it again", Record: 199}, 0)
	p.Lines[99].Breaks = []string{"VIOLATES keep-quiet: says it"}
	text := p.Text()
	for _, has := range []string{" 15 ", "... 84 more", " 100 ", "keep-quiet: says it", "... 55 more", " 156 ",
		" 200 "} {
		if !strings.Contains(text, has) {
			t.Errorf("the story does not contain %q", has)
		}
	}
	for _, not := range []string{" 16 ", " 99 ", " 101 ", " 155 "} {
		if strings.Contains(text, not) {
			t.Errorf("the story contains %q", not)
		}
	}
	whole := render.Story(p.Lines, render.Width)
	if strings.Contains(whole, " more") || !strings.Contains(whole, " 101 ") {
		t.Error("Story leaves something out")
	}
}
