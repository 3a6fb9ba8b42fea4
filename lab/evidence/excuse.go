package evidence

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/clause"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// The names of controllers that have clauses of their own.
const (
	collector = "garbagecollector"
	drainer   = "namespace"
	kubelet   = "kubelet" // its eras are variants, such as "kubelet@endless"
)

// excused returns the reason why a clause does not apply to a controller, or "" if it applies.
func excused(c *clause.Clause, s *Sheet, g *scenarios.Registry) string {
	switch c.About {
	case clause.Keyed:
		return unless(s.For.Kind != "", "it syncs no kind")
	case clause.Owners:
		return unless(len(s.Owns) > 0 && s.For.Kind != "", "it has no dependents")
	case clause.Claimers:
		return unless(s.Contract.Selector != nil, "it selects nothing")
	case clause.Wanting:
		return unless(s.Contract.Replicas != nil, "it wants no number of dependents")
	case clause.Identified:
		return unless(s.Contract.Identity != nil, "its dependents have no identity")
	case clause.Counting:
		return unless(len(s.Contract.Counts) > 0, "its status counts no dependents")
	case clause.Finalizing:
		return unless(len(s.Contract.Finalizers) > 0 || s.Name == collector, "it adds no finalizers")
	case clause.Collector:
		return unless(s.Name == collector, "it concerns the garbage collector")
	case clause.Drainer:
		return unless(s.Name == drainer, "it concerns the namespace controller")
	case clause.Named:
		if c.ID == "KIND-CRON-2" && s.Newest {
			return "it uses ControllerRef only: the polling eras use the annotation"
		}
		return unless(slices.Contains(c.Only, s.Name), "it concerns "+strings.Join(c.Only, " and "))
	case clause.Eras:
		return ageless(c, s, g)
	}
	return ""
}

// ageless returns the reason why a clause about upgrades does not apply to a controller.
func ageless(c *clause.Clause, s *Sheet, g *scenarios.Registry) string {
	overlap := strings.HasPrefix(c.ID, "DOWNGRADE") || strings.HasPrefix(c.ID, "UPGRADE") && c.ID != "UPGRADE-1"
	switch {
	case s.Name == kubelet:
		return "its eras are variants of nodes: there is no upgrade between them"
	case !s.Newest:
		return "the last era is judged"
	case erasOf(g, s.Name) < 2:
		return "it has one era"
	case overlap && s.Name == "cronjob":
		return "each era finds its Jobs by the UID of the owner: none overlap"
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

func lawOf(c *clause.Clause) func(*law.Law) bool {
	return func(l *law.Law) bool { return l.ID == c.ID || l.ID == c.Invariant }
}

// unexercised holds the reasons why a clause is not exercised for a controller.
var unexercised = map[[2]string]string{
	{kubelet, "FIN-1"}:           "no Pod that it ends has finalizers",
	{kubelet, "WRITE-8"}:         "none of its requests fails in the few worlds that run it",
	{"podgc", "WRITE-8"}:         "its queue gets no errors: the next round repeats what one round failed to do",
	{"resourcequota", "WRITE-4"}: "the law checks live reads, and it has none",
}

// excuse says why some clauses are not exercised. It applies to each sheet for which of(sheet) is true.
type excuse struct {
	of      func(s *Sheet) bool
	clauses string
	why     string
}

// excuses are tried in this order.
var excuses = []excuse{
	{aged, "KIND-RS KIND-RC KIND-DEPLOY KIND-STS-1 KIND-STS-2 KIND-DS KIND-JOB KIND-CRON-1 KIND-CRON-2 JOBSEL-8 " +
		"JOBSEL-9", "no law checks it, and the files that cover it run the last era, or a named one"},
	{selecting, "API-4 API-6 LAW-1b NOFIGHT-2 ADOPT-1 ADOPT-4 ADOPT-5 ADOPT-6 ADOPT-7",
		"it adopts nothing: it treats every selected object as its own"},
	{selecting, "ORPHAN-1 ORPHAN-2", "it releases nothing: it forgets objects that it no longer selects"},
	{selecting, "WATCH-1 WATCH-3", "its dependents have no ControllerRef, so no event is routed by one"},
	{selecting, "EXACT-1 EXACT-2 EXACT-3",
		"the law counts dependents by ControllerRef, and it sets none"},
	{selecting, "WRITE-7", "it owns nothing by ControllerRef, so nobody changes such objects"},
	{selecting, "WRITE-4", "the law checks live reads, and it has none"},
	{selecting, "API-5 WRITE-3 WRITE-8", "only crashes and errors exercise it, and eras before ControllerRef " +
		"run without faults: they fight anyway"},
	{selecting, "EXACT-5", "the law checks writes without a resourceVersion, and it has none"},
	{aged, "ADOPT-6", "few schedules have a lost race, and older eras have fewer schedules: " +
		"with --schedules=60 it is exercised"},
	{aged, "ORPHAN-2", "in no schedule is the released Pod gone before the release; the file with that case " +
		"runs the last era"},
	{aged, "EXACT-3", "its Pods have no index: indexed Jobs came later"},
	{selecting, "EXACT-11", "the law counts dependents by ControllerRef, and it sets none"},
	{aged, "EXACT-9 EXACT-10", "it keeps no revisions and owns no claims: later eras do"},
	{aged, "EXACT-11", "it scales down any pods: keeping running ones came later"},
	{aged, "EXACT-12", "it counts the pods that it sees: counting by UID came later"},
	{func(s *Sheet) bool { return s.Newest }, "UPGRADE-1 UPGRADE-2 UPGRADE-3 UPGRADE-4 DOWNGRADE-1 DOWNGRADE-2 SKEW-1",
		"controllers.TestEras checks it for every pair of eras"},
	{func(s *Sheet) bool { return s.Newest }, "GCPOLICY-3",
		"the server decides it, for any owner: the files that cover it run other controllers"},
	{func(*Sheet) bool { return true }, "EXACT-13",
		"the worlds of this table have no quiet run to compare with: check, conformance and simtest compare"},
	{selecting, "WRITE-9", "resyncs are faults, and eras before ControllerRef run without faults"},
}

func aged(s *Sheet) bool { return !s.Newest }

// selecting reports whether a sheet is of an era that uses selectors instead of ControllerRef.
func selecting(s *Sheet) bool { return !s.Newest && !refers(s.Name, s.Era) }

// reason returns the reason why a clause is not exercised for a controller, or "".
func reason(s *Sheet, id string) string {
	if why := unexercised[[2]string{s.Name, id}]; why != "" {
		return why
	}
	for _, e := range excuses {
		if e.of(s) && slices.Contains(strings.Fields(e.clauses), id) {
			return e.why
		}
	}
	return ""
}

// lawless are the eras in which some controllers do not use ControllerRef. They exist to violate the laws.
var lawless = []string{"selector", "gated", "gated-without-gc"}

// refers reports whether a controller uses ControllerRef in an era. In the gated era, all controllers use ControllerRef
// except those of DaemonSet and Job.
func refers(controller, era string) bool {
	return !slices.Contains(lawless, era) ||
		era == "gated" && controller != "daemonset" && controller != "job"
}
