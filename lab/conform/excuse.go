package conform

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// The controllers that have clauses of their own, by name.
const (
	collector = "garbagecollector"
	drainer   = "namespace"
	kubelet   = "kubelet" // whose variants are other nodes, not other ages
)

// excused says why a clause is none of a controller's, "" where it is.
func excused(c *clause.Clause, s *Sheet, g *scenarios.Registry) string {
	switch c.About {
	case clause.Keyed:
		return unless(s.For.Kind != "", "it syncs no kind of its own")
	case clause.Owners:
		return unless(len(s.Owns) > 0 && s.For.Kind != "", "it has no dependents")
	case clause.Claimers:
		return unless(s.Contract.Selector != nil, "it selects nothing")
	case clause.Wanting:
		return unless(s.Contract.Replicas != nil, "it does not say how many dependents there are to be")
	case clause.Identified:
		return unless(s.Contract.Identity != nil, "two of its dependents may be alike")
	case clause.Counting:
		return unless(len(s.Contract.Counts) > 0, "its status counts no dependents")
	case clause.Finalizing:
		return unless(len(s.Contract.Finalizers) > 0 || s.Name == collector, "it puts no finalizers on objects")
	case clause.Collector:
		return unless(s.Name == collector, "it is about the garbage collector")
	case clause.Drainer:
		return unless(s.Name == drainer, "it is about the namespace controller")
	case clause.Named:
		if c.ID == "KIND-CRON-2" && s.Newest {
			return "it goes by ControllerRef alone: the polling eras go by the annotation"
		}
		return unless(slices.Contains(c.Only, s.Name), "it is about "+strings.Join(c.Only, " and "))
	case clause.Eras:
		return ageless(c, s, g)
	}
	return ""
}

// ageless says why what is demanded of upgrades is none of a controller's.
func ageless(c *clause.Clause, s *Sheet, g *scenarios.Registry) string {
	overlap := strings.HasPrefix(c.ID, "DOWNGRADE") || strings.HasPrefix(c.ID, "UPGRADE") && c.ID != "UPGRADE-1"
	switch {
	case s.Name == kubelet:
		return "its variants are other nodes, not other ages: nobody upgrades one to another"
	case !s.Newest:
		return "what it is upgraded to is asked"
	case erasOf(g, s.Name) < 2:
		return "it has one era"
	case overlap && s.Name == "cronjob":
		return "a Job is its maker's by uid in each era: no two select it"
	}
	return ""
}

func unless(its bool, why string) string {
	if its {
		return ""
	}
	return why
}

func erasOf(g *scenarios.Registry, name string) int {
	n := 0
	for _, c := range g.Controllers {
		if c.Name == name && c.Era != "" {
			n++
		}
	}
	return n
}

// lawOf tells the law of a clause.
func lawOf(id string) func(*law.Law) bool { return func(l *law.Law) bool { return l.ID == id } }

// unasked says why nothing asks a clause of a controller.
var unasked = map[[2]string]string{
	{kubelet, "FIN-1"}:           "no Pod that it ends has finalizers",
	{kubelet, "WRITE-8"}:         "none of its requests fails in the few worlds that run it so",
	{"podgc", "WRITE-8"}:         "no error comes to its queue: what one round fails to do the next finds again",
	{"resourcequota", "WRITE-4"}: "the law asks of each live read whether it lists, and there is none",
}

// excuse is why nothing comes to some clauses in the worlds of older eras.
type excuse struct {
	of      func(s *Sheet) bool
	clauses string
	why     string
}

// excuses are looked through in their order.
var excuses = []excuse{
	{aged, "KIND-RS KIND-RC KIND-DEPLOY KIND-STS-1 KIND-STS-2 KIND-DS KIND-JOB KIND-CRON-1 KIND-CRON-2 JOBSEL-8 " +
		"JOBSEL-9", "no law asks it, and the files that pin it run the newest era, or one they name"},
	{selecting, "API-4 API-6 LAW-1b NOFIGHT-2 ADOPT-1 ADOPT-4 ADOPT-5 ADOPT-6 ADOPT-7",
		"it adopts nothing: what it selects is its own"},
	{selecting, "ORPHAN-1 ORPHAN-2", "it releases nothing: what it selects no longer it forgets"},
	{selecting, "WATCH-1 WATCH-3", "nothing that it makes has a ControllerRef by which an event could go to its owner"},
	{selecting, "EXACT-1 EXACT-2 EXACT-3",
		"the law counts what is owned by ControllerRef, and it makes nothing that is"},
	{selecting, "WRITE-7", "nothing is its own by ControllerRef, so nobody changes what is"},
	{selecting, "WRITE-4", "the law asks of each live read whether it lists, and it has none: it checks nothing live"},
	{selecting, "API-5 WRITE-3 WRITE-8", "only crashes and errors come to it, and eras from before " +
		"ControllerRef are not run with faults: they fight as it is"},
	{selecting, "EXACT-5", "the law asks of writes that are not conditional on a version, and it has none"},
	{aged, "ADOPT-6", "few schedules have a race that is lost, and older eras are drawn fewer: " +
		"with --schedules=60 they are asked"},
	{aged, "ORPHAN-2", "in no schedule is the Pod that it lets go gone when the release lands; the file that " +
		"brings that about runs the newest era"},
	{aged, "EXACT-3", "its Pods have no index: Jobs with one are younger"},
	{selecting, "EXACT-11", "the law counts what is owned by ControllerRef, and it makes nothing that is"},
	{aged, "EXACT-9 EXACT-10", "it keeps no revisions and ties no claims: younger ones of its kind do"},
	{aged, "EXACT-11", "it scales down as it likes: to keep what it needs of those at work is younger"},
	{aged, "EXACT-12", "it counts the pods that it sees: to count each once, by its uid, is younger"},
	{func(s *Sheet) bool { return s.Newest }, "UPGRADE-1 UPGRADE-2 UPGRADE-3 UPGRADE-4 DOWNGRADE-1 DOWNGRADE-2 SKEW-1",
		"controllers.TestEras asks it of every pair of eras"},
	{func(s *Sheet) bool { return s.Newest }, "GCPOLICY-3",
		"the server decides it, whoever owns: the files that pin it run other controllers"},
	{selecting, "WRITE-9", "resyncs are among the faults, and eras from before ControllerRef are run without"},
}

// aged: an older era.
func aged(s *Sheet) bool { return !s.Newest }

// selecting: one that goes by selectors, not by ControllerRef.
func selecting(s *Sheet) bool { return !s.Newest && !refers(s.Name, s.Era) }

// reason says why nothing asked a clause of a controller, "" for none.
func reason(s *Sheet, id string) string {
	if why := unasked[[2]string{s.Name, id}]; why != "" {
		return why
	}
	for _, e := range excuses {
		if e.of(s) && slices.Contains(strings.Fields(e.clauses), id) {
			return e.why
		}
	}
	return ""
}

// lawless are the eras from before ControllerRef, which break the laws: that is what
// they are here for.
var lawless = []string{"selector", "gated", "gated-without-gc"}

// refers says whether a controller goes by ControllerRef in an era. Of the gated
// ones those do that the proposal's checklist has a tick for.
func refers(controller, era string) bool {
	return !slices.Contains(lawless, era) ||
		era == "gated" && controller != "daemonset" && controller != "job"
}
