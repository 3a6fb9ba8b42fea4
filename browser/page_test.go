package browser

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/page/pagetest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fight returns the page that explore writes about two controllers with the same selector.
func fight(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	threelaws(t, "explore", "-n", "20", "--out", dir, "overlap/selector-era-fights")
	found, err := filepath.Glob(filepath.Join(dir, "*never-fight*.html"))
	if err != nil || len(found) != 1 {
		t.Fatalf("explore wrote %v, %v; want the page of one fight", found, err)
	}
	return found[0]
}

// The page of a fight shows which law is violated, which process does what to which object, and that the fight does not
// end. The step that violates the law is selected and red.
func TestFightIsSeen(t *testing.T) {
	b := open(t, fight(t))
	verdict := text(t, b, "#verdict")
	for _, want := range []string{"never-fight is violated", "rc/b creates pod/b-3, then rs/a deletes pod/b-2",
		"and so on, for ever", "Without interference, controllers settle", "threelaws replay "} {
		if !strings.Contains(verdict, want) {
			t.Errorf("the verdict does not say %q:\n%s", want, verdict)
		}
	}
	if n := eval[int](t, b, "document.querySelectorAll('svg .row.broken').length"); n != 1 {
		t.Errorf("%d rows are red, want one", n)
	}
	if s := text(t, b, "#step"); !strings.HasPrefix(s, "8") {
		t.Errorf("the page begins at %q, want the violation, step 8", s)
	}
	b.quiet(t)
}

// facts is a JavaScript expression for the visible layout of the lanes: the names from left to right, and each row's
// text, the direction of its arrow, and the lane in which the arrow ends.
const facts = `(() => {
  const words = (s) => [...s.querySelectorAll('text')].map((e) => ({x: +e.getAttribute('x'), text: e.firstChild.data}));
  const heads = words(document.querySelector('.heads svg')).filter((w) => w.x > 300).sort((a, b) => a.x - b.x);
  const rows = view.rows.map((row, i) => {
    const at = view.at, r = view.run.records[row.record];
    const mid = i * ROW + ROW / 2;
    const arrow = [...document.querySelectorAll('#lanes .tall path.ask')].find((p) => +p.getAttribute('d').split(/[ML ]/)[2] === mid - 4);
    const lane = (x) => at.lanes.reduce((a, b) => Math.abs(a.x - x) < Math.abs(b.x - x) ? a : b).name;
    const ends = arrow && arrow.getAttribute('d').split(/[ML ]/).map(Number);
    return says(view.run, row) + (ends ? ' | ' + lane(ends[1]) + ' --' + arrow.getAttribute('class').replace('ask ', '') + '--> ' + lane(ends[3]) : '');
  });
  const bracket = document.querySelector('svg .bracket').getBBox();
  const first = Math.round((bracket.y - 4) / ROW), last = Math.round((bracket.y + bracket.height + 4) / ROW) - 1;
  return {heads: heads.map((w) => w.text), rows, bracket: [says(view.run, view.rows[first]), says(view.run, view.rows[last])]};
})()`

// The layout is unchanged: the order of the lanes, the text of each row, the lanes that its arrow connects, and the
// rows in the bracket of the fight.
func TestLayout(t *testing.T) {
	b := open(t, fight(t))
	got, err := json.MarshalIndent(eval[map[string]any](t, b, facts), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "fight.json")
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(want)) != string(got) {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

// collide is a JavaScript function that returns the texts of a line that overlap.
const collide = `(all) => {
  const texts = [...document.querySelectorAll(all)].filter((e) => e.firstChild)
    .map((e) => ({text: e.firstChild.data, box: e.getBoundingClientRect()}));
  const into = (p, q) => p !== q && p.box.top < q.box.bottom - 3 && q.box.top < p.box.bottom - 3 &&
    p.box.left <= q.box.left && p.box.right > q.box.left;
  return texts.flatMap((p) => texts.filter((q) => into(p, q)).map((q) => p.text + ' runs into ' + q.text)).join('; ');
}`

// Keys, buttons and the slider select steps. The lanes have the state of the selected step beside them.
func TestSteps(t *testing.T) {
	b := open(t, fight(t))
	tree := func() string {
		return strings.Join(strings.Fields(eval[string](t, b,
			"[...document.querySelectorAll('#panel h2 + ul > li')].map((e) => e.innerText).join(' ')")), " ")
	}
	for _, c := range []struct{ do, step, owns string }{
		{"Home", "the initial state", "rc/b rs/a"},
		{"ArrowRight", "1", "pod/a-1 has no owner rc/b rs/a"},
		{"j", "2", "pod/a-1 has no owner pod/b-1 has no owner rc/b rs/a"},
		{"ArrowDown", "3", "pod/b-1 has no owner rc/b rs/a"},
		{"k", "2", "pod/a-1 has no owner pod/b-1 has no owner rc/b rs/a"},
		{"b", "8", "pod/b-3 has no owner rc/b rs/a"},
	} {
		press(t, b, c.do)
		if s := text(t, b, "#step"); !strings.HasPrefix(s, c.step) {
			t.Errorf("after %s the step is %q, want %s", c.do, s, c.step)
		}
		if got := tree(); got != c.owns {
			t.Errorf("after %s there is %q, want %q", c.do, got, c.owns)
		}
	}
	eval[bool](t, b, "(() => { slider.value = 4; return slider.dispatchEvent(new Event('input')) })()")
	if s := text(t, b, "#step"); !strings.HasPrefix(s, "4") {
		t.Errorf("the slider goes to %q, want step 4", s)
	}
	eval[bool](t, b, `(() => { const s = view.tall.firstChild, box = s.getBoundingClientRect();
		const i = view.rows.findIndex((row) => row.line && row.line.n === 2), r = view.run.records[view.rows[i].record].r;
		return s.dispatchEvent(new MouseEvent('click',
			{clientX: box.left + view.at.object.get(r), clientY: box.top + (i - view.drawn + 0.5) * ROW})) })()`)
	if s, yaml := text(t, b, "#step"), text(t, b, "#yaml"); !strings.HasPrefix(s, "2") || !strings.Contains(yaml, "name: b-1") {
		t.Errorf("a click on pod/b-1 in step 2 goes to step %q and shows\n%s", s, yaml)
	}
	b.quiet(t)
}

// A click on an object shows its version, what changed in it, and which processes had seen it.
func TestObjectIsShown(t *testing.T) {
	b := open(t, fight(t))
	press(t, b, "Home")
	press(t, b, "ArrowRight")
	eval[bool](t, b, "[...document.querySelectorAll('#panel .link')].find((e) => "+
		"e.innerText === 'pod/a-1').click() ?? true")
	if s := text(t, b, "#yaml"); !strings.Contains(s, "generateName: a-") || !strings.Contains(s, "kind: Pod") {
		t.Errorf("the YAML of pod/a-1 is\n%s", s)
	}
	if s := text(t, b, "#panel"); !strings.Contains(s, "seen by no process yet") {
		t.Errorf("no process had seen pod/a-1 when it was stored; the panel says\n%s", s)
	}
	press(t, b, "ArrowRight")
	if s := text(t, b, "#panel"); !strings.Contains(s, "seen by replicaset, replication") {
		t.Errorf("both had been shown pod/a-1 before step 2; the panel says\n%s", s)
	}
	b.quiet(t)
}

// If a process acts on a stale view, the page shows the view and the true state side by side.
func TestOldViewBesideTheTruth(t *testing.T) {
	b := open(t, write(t, []byte(threelaws(t, "show", "--as", "html", "overlap/deleted-what-it-had-lost"))))
	s := text(t, b, "#stale")
	acted, was, _ := strings.Cut(s, "was true")
	if !strings.Contains(acted, "ownerReferences") || strings.Contains(was, "ownerReferences") {
		t.Errorf("acted on and was true:\n%s", s)
	}
	if n := eval[int](t, b, "document.querySelectorAll('svg .held').length"); n == 0 {
		t.Error("the watch that was held has no mark on its lane")
	}
	if n := eval[int](t, b, "document.querySelectorAll('svg rect.stale').length"); n == 0 {
		t.Error("the view that was stale is not shaded")
	}
	b.quiet(t)
}

// A filter shows only the steps that match. The search counts its matches. The table has the same text as the lanes.
func TestFiltersAndTable(t *testing.T) {
	b := open(t, fight(t))
	choose := func(id, value string) int {
		return eval[int](t, b, "(() => { "+id+".value = "+value+"; "+id+
			".dispatchEvent(new Event('change')); return view.rows.length })()")
	}
	all := eval[int](t, b, "view.rows.length")
	every := choose("detail", "'all'")
	if every <= all || choose("detail", "'writes'") > all || choose("detail", "'story'") != all {
		t.Errorf("the story has %d rows, and all steps have %d", all, every)
	}
	if n := choose("kind", "'ReplicaSet'"); n != 1 {
		t.Errorf("of rs/a %d rows are shown, want only the beginning, because its status is noise", n)
	}
	choose("kind", "''")
	if n := choose("process", "String(view.run.processes.findIndex((p) => p.name === 'replication') + 1)"); n != 4 {
		t.Errorf("of replication %d rows are shown, want the beginning and three creates", n)
	}
	choose("process", "''")
	eval[bool](t, b, "(() => { const s = document.getElementById('search'); s.value = 'delete pod/b-1'; "+
		"return s.dispatchEvent(new Event('input')) })()")
	if s := text(t, b, "#hits"); s != "2 found" {
		t.Errorf("search says %q, want the deletion and the step that the creation caused", s)
	}
	eval[bool](t, b, "table.open = true")
	eval[bool](t, b, "drawTable(0) ?? true")
	if s := text(t, b, "#table table"); !strings.Contains(s, "rs/a delete pod/b-2") ||
		!strings.Contains(s, "VIOLATES never-fight") {
		t.Errorf("the table:\n%s", s)
	}
	b.quiet(t)
}

// No text of a history can run as a script. The page shows it as it is written.
func TestNothingRuns(t *testing.T) {
	h := pagetest.Hostile()
	html, err := page.Of(pagetest.Evil, page.Whole("the run", h, nil)).HTML()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, write(t, html))
	for _, value := range []string{"all", "writes", "story"} {
		eval[bool](t, b, "(() => { detail.value = '"+value+"'; return detail.dispatchEvent(new Event('change')) })()")
		for range 6 {
			press(t, b, "ArrowLeft")
			eval[bool](t, b, "document.querySelector('#panel .link')?.click() ?? true")
		}
	}
	eval[bool](t, b, "(table.open = true, drawTable(0), dispatchEvent(new Event('beforeprint')))")
	if got := eval[string](t, b, "String(window.pwned)"); got != "undefined" {
		t.Errorf("a text of the history ran as a script: %s", got)
	}
	if n := eval[int](t, b, "document.querySelectorAll('img, svg[onload], script').length"); n != 2 {
		t.Errorf("%d elements that could run, want the page's own two", n)
	}
	if s := text(t, b, "#title"); s != pagetest.Evil {
		t.Errorf("the title is %q", s)
	}
	// The content security policy alone would also have stopped a script.
	eval[bool](t, b, "(() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 5'; "+
		"document.body.append(s); return true })()")
	if got := eval[string](t, b, "String(window.pwned)"); got != "undefined" {
		t.Errorf("the policy lets a script run that is not the page's: %s", got)
	}
}

// Of ten thousand steps only those in sight are drawn.
func TestOnlyWhatIsInSightIsDrawn(t *testing.T) {
	b := open(t, long(t))
	for _, key := range []string{"Home", "End", "PageUp"} {
		press(t, b, key)
		if n := eval[int](t, b, "document.querySelectorAll('*').length"); n > 4000 {
			t.Errorf("after %s the page has %d elements", key, n)
		}
	}
	b.quiet(t)
}

func long(t testing.TB) string {
	t.Helper()
	html, err := page.Of("ten thousand steps", page.Whole("the run", pagetest.Long(10_000), nil)).HTML()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, html)
}
