package evidence

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
)

// item is a line of the proposal's implementation checklist.
type item struct {
	text    string
	clauses []string // the IDs of clauses, which must all hold
	proof   string   // a file or directory of this module that must also exist; "" for none
}

type part struct {
	title      string
	controller string // the controller's name; "" if the items concern no single controller
	items      []item
}

// Items that the checklist has for several controllers.
var (
	going    = item{"leaves its dependents alone while it is terminating", []string{"ADOPT-3"}, ""}
	adopting = item{"adopts and manages nothing while it is terminating", []string{"ADOPT-3", "ADOPT-4", "ADOPT-7"}, ""}
	letting  = item{"releases nothing while it is terminating", []string{"ADOPT-3", "ORPHAN-1"}, ""}
	creating = item{"creates with a ControllerRef", []string{"LAW-1"}, ""}
	claiming = item{"uses shared code for adopting and releasing", []string{"ADOPT-1", "ADOPT-2", "ORPHAN-1", "ORPHAN-2"},
		"controllers/internal/ref"}
	mapping = item{"maps watch events by ControllerRef",
		[]string{"WATCH-1", "WATCH-3", "WATCH-4", "WATCH-5", "WATCH-6"}, ""}
)

// policy returns the item about the default deletion policy. recorded is the file of the case that proves the item.
func policy(recorded string) item {
	return item{"orphans its dependents by default in its old API versions", []string{}, recorded}
}

// outgrown returns the item about the default deletion policy for a kind whose old API versions are no longer served.
// The served version does not orphan by default.
func outgrown(recorded string) item {
	return item{"orphans its dependents by default in its old API versions, which are not served: in the served one " +
		"the garbage collector deletes them", []string{}, recorded}
}

const vectors = "fakeapi/testdata/vectors/"

// gated returns the item that requires ControllerRefs even if the garbage collector is disabled.
func gated(id string) item {
	return item{"has ControllerRef whether or not the garbage collector is enabled", []string{id}, ""}
}

// checklist is the proposal's checklist in other words.
var checklist = []part{
	{"The field", "", []item{
		{"an owner reference says whether it is the ControllerRef", nil,
			vectors + "ownerrefs/create-valid-controller.json"},
		{"no object has two of them", nil, vectors + "ownerrefs/change-two-controllers.json"},
		{"one package adopts and releases", nil, "controllers/internal/ref/manager.go"},
	}},
	{"ReplicationController", "replication", []item{going, adopting, letting, creating,
		policy(vectors + "finalizers/default-policy-rc.json"), claiming, gated("KIND-RC"), mapping}},
	{"ReplicaSet", "replicaset", []item{going, adopting, letting, creating,
		outgrown(vectors + "finalizers/default-policy-rs.json"), claiming, gated("KIND-RS"), mapping}},
	{"StatefulSet", "statefulset", []item{going, creating,
		outgrown(vectors + "finalizers/default-policy-sts.json"), claiming, mapping}},
	{"DaemonSet", "daemonset", []item{going, creating,
		outgrown(vectors + "finalizers/default-policy-ds.json"), claiming, mapping}},
	{"Deployment", "deployment", []item{going, creating,
		outgrown(vectors + "controllers/cascade-deployment-default.json"), claiming, mapping}},
	{"Job", "job", []item{going, creating, policy(vectors + "controllers/job-delete-default.json"), claiming, mapping}},
	{"CronJob", "cronjob", []item{going, creating,
		outgrown(vectors + "finalizers/default-policy-cronjob.json"),
		{"maps Jobs to their CronJobs by ControllerRef", []string{"KIND-CRON-1"}, ""}}},
	{"Tests", "", []item{
		{"of each controller with ControllerRef", nil, "controllers/recorded/replay_test.go"},
		{"of overlapping controllers of several kinds", nil,
			"scenarios/testdata/overlap/replicaset-races-replication-controller.txtar"},
	}},
	{"created-by", "", []item{
		{"`kubectl describe` shows the controller of an object", nil, "kubectltest/testdata/describe.txtar"},
		{"`kubectl drain` looks up the controller", nil, "kubectltest/testdata/drain.txtar"},
		{"a failed Pod is recognized by its ControllerRef", []string{"CREATEDBY-3"}, ""},
	}},
}

type tick struct {
	done bool
	by   []string // the evidence, or what is missing
}

const checklistHead = `# The proposal's checklist

This page is for readers who know the ControllerRef proposal. It paraphrases the proposal's list of implementation
items. Names such as ADOPT-3 are [clauses](clauses.md): requirements that a program can be checked against. An item has
a tick if all its clauses were evaluated for the current version of the controller (its last era), and held in every
explored schedule. The last column names each clause with its law. It may also name a mutant that the law kills: a
variant of the controller without one check, in which the law reports a violation. If no law checks an item, the last
column names what covers the item: a recorded case of the real server, a scenario, or a source file.
`

// ChecklistPage returns docs/evidence/checklist.md; root is the directory of this module.
func ChecklistPage(r *Examination, cover []*Cover, g *scenarios.Registry, root string) []byte {
	var b strings.Builder
	b.WriteString(checklistHead)
	for _, p := range checklist {
		fmt.Fprintf(&b, "\n## %s\n| | item | by |\n|---|---|---|\n", p.title)
		sheet := r.newest(p.controller)
		for _, it := range p.items {
			t := it.tick(p, sheet, cover, g, root)
			box := "[ ]"
			if t.done {
				box = "[x]"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", box, it.text, strings.Join(t.by, "; "))
		}
	}
	return []byte(b.String())
}

func (r *Examination) newest(controller string) *Sheet {
	for _, s := range r.Sheets {
		if s.Name == controller && s.Newest {
			return s
		}
	}
	return nil
}

// tick returns whether an item is done, and the evidence.
func (it item) tick(p part, s *Sheet, cover []*Cover, g *scenarios.Registry, root string) tick {
	t := tick{done: true}
	fail := func(why string) {
		t.done = false
		t.by = append(t.by, why)
	}
	if p.controller != "" && s == nil {
		fail("there is no controller " + p.controller)
		return t
	}
	for _, id := range it.clauses {
		at := slices.IndexFunc(cover, func(c *Cover) bool { return c.ID == id })
		c := cover[at]
		if s == nil {
			if lacks := c.Lacks(); lacks != "" {
				fail(id + ": " + lacks)
			} else {
				t.by = append(t.by, id+" "+c.besides()+c.pinned())
			}
			continue
		}
		i := slices.IndexFunc(s.Rows, func(row *Row) bool { return row.ID == id })
		switch row := s.Rows[i]; row.State {
		case Held:
			t.by = append(t.by, strings.TrimSpace(id+" "+row.Law+c.killOf(s.Name, g)))
		case NotIts:
			t.by = append(t.by, id+" does not apply ("+row.Why+")")
		default:
			fail(id + " is " + strings.TrimSuffix(string(row.State), "!"))
		}
	}
	if it.proof != "" {
		if found, _ := filepath.Glob(filepath.Join(root, it.proof)); len(found) == 0 {
			fail(it.proof + " is not there")
		} else {
			t.by = append(t.by, fmt.Sprintf("`%s`", it.proof))
		}
	}
	return t
}

// killOf names a mutant of the controller that the clause's law finds, or a scenario if no law checks the clause.
func (c *Cover) killOf(controller string, g *scenarios.Registry) string {
	for _, k := range c.Kills {
		for _, m := range g.Mutants {
			if m.Name == k.Mutant && m.Make().Name == controller {
				return fmt.Sprintf(" kills `%s` in %s", k.Mutant, link(k.File))
			}
		}
	}
	if c.Law == nil && len(c.Scenarios) > 0 {
		return "in " + link(c.Scenarios[0])
	}
	return ""
}

// holds lists the controllers whose newest era keeps a clause or does not exercise it, and every era that violates it.
func (r *Examination) holds(c *clause.Clause) string {
	var held, broken, unexercised []string
	applies := 0
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if row.ID != c.ID || row.State == NotIts {
				continue
			}
			switch {
			case row.State == Broken || row.State == Breaking:
				broken = append(broken, s.String())
			case row.State == Held && s.Newest:
				held = append(held, r.called(s))
			case row.State == Unexercised && s.Newest:
				unexercised = append(unexercised, r.called(s))
			}
			if s.Newest {
				applies++
			}
		}
	}
	var parts []string
	switch {
	case applies == len(held) && applies > mostNamed:
		parts = append(parts, fmt.Sprintf("all %d controllers that it applies to", applies))
	case len(held) > 0:
		parts = append(parts, strings.Join(held, ", "))
	}
	if len(unexercised) > 0 {
		parts = append(parts, "not exercised: "+strings.Join(unexercised, ", "))
	}
	if len(broken) > 0 {
		parts = append(parts, "violated by "+strings.Join(broken, ", "))
	}
	return strings.Join(parts, "; ")
}

// called returns a controller's name. It adds the era if several eras of the controller count as newest.
func (r *Examination) called(s *Sheet) string {
	for _, o := range r.Sheets {
		if o != s && o.Newest && o.Name == s.Name {
			return s.String()
		}
	}
	return s.Name
}
