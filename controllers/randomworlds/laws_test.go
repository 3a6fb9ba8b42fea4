package randomworlds_test

import (
	"flag"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/law"
)

var seeds = flag.Int("seeds", 160, "in how many worlds of each controller the laws are evaluated")

var subjects = []*subject{&jobs, &statefulSets, &deployments, &daemonSets, &replicaSets, &replicationControllers,
	&endpoints, &cronJobs}

// asked has all laws except always-settle, because a world ends after some steps.
var asked = slices.DeleteFunc(builtin.Registry().Laws, func(l *law.Law) bool { return l.Name == "always-settle" })

// further lists additional worlds: those with an earlier false positive, and those with a rare finding.
var further = map[string][]uint64{
	"job": {230, 352, 370, 977, 1268, 1535}, "cronjob": {201, 382, 1608}, "daemonset": {669, 687, 1786},
	"statefulset":   {384, 483, 1325, 1419, 1465, 1476, 1505, 1547, 1552, 1671},
	"endpointslice": {183, 260, 322},
	"replication":   {947, 1312, 1984},
	"deployment":    {612, 949, 1894, 1924, 1959},
}

// TestWorldsKeepTheLaws runs worlds of each controller, in its current era, with the laws. The laws were not written
// with these worlds in mind. A violation is accepted if a finding lists the world, and then it must occur.
func TestWorldsKeepTheLaws(t *testing.T) {
	worlds := *seeds
	if testing.Short() {
		worlds = min(worlds, 16)
	}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range append(slices.Collect(first(worlds)), further[s.name]...) {
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { s.judge(t, seed) })
			}
		})
	}
}

func first(n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for seed := range uint64(n) {
			if !yield(seed) {
				return
			}
		}
	}
}

// judge reports the first violation that is neither a lost race nor accepted, and findings without a violation.
func (s *subject) judge(t *testing.T, seed uint64) {
	w := play(t, s, seed, asked...)
	occurs := map[*finding]bool{}
	for _, b := range w.Judge.Violations() {
		if b.Strength == law.Committed {
			continue
		}
		f := s.finding(seed, b.Law.Name)
		if occurs[f] = true; f == nil {
			t.Errorf("%s\n%s", b, render.NewPage(&w.World.History, render.MarkOf(b), 0).Text())
			break
		}
	}
	for _, f := range findings {
		if f.controller == s.name && slices.Contains(f.worlds, seed) && !occurs[f] {
			t.Errorf("no violation of %s, although %s", f.laws, f.why)
		}
	}
}

// finding is a reason why a controller may violate laws: upstream's controller violates them too.
type finding struct {
	controller string
	laws       string   // names, separated by blanks
	worlds     []uint64 // the worlds with the violation
	why        string   // with upstream's file and function, if upstream is the cause
}

// finding returns the finding for a law in the world of a seed, or nil.
func (s *subject) finding(seed uint64, law string) *finding {
	i := slices.IndexFunc(findings, func(f *finding) bool {
		return f.controller == s.name && slices.Contains(f.worlds, seed) && slices.Contains(strings.Fields(f.laws), law)
	})
	if i < 0 {
		return nil
	}
	return findings[i]
}

var findings = []*finding{
	{controller: "cronjob", laws: "dont-share",
		worlds: []uint64{33, 59, 62, 93, 96, 99, 103, 111, 112, 120, 126, 130, 151},
		why: "what stands in status.active stays as long as there is a Job of the name, whosever it is, and as " +
			"often as it stands there; nothing wakes its CronJob when that goes (cronjob_controllerv2.go, " +
			"syncCronJob, deleteJob)"},
	{controller: "cronjob", laws: "status-only-when-terminating", worlds: []uint64{201},
		why: "a CronJob that is read live for a Job that its status does not list is looked at for that Job alone " +
			"(cronjob_controllerv2.go, syncCronJob)"},
	{controller: "cronjob", laws: "never-too-many", worlds: []uint64{8, 382},
		why: "Forbid and Replace go by what status.active lists (cronjob_controllerv2.go, syncCronJob)"},
	{controller: "daemonset", laws: "needed-objects-exist one-for-each-identity", worlds: []uint64{2, 124, 141, 1786},
		why: "where somebody has emptied the label of the revision that says its hash, pods are made without one, " +
			"and those of it cannot be told from those that say none (update.go, constructHistory)"},
	{controller: "deployment", laws: "stay-within-bounds", worlds: []uint64{1959},
		why: "before it looks where to roll back to it makes the ReplicaSet of the template, of its whole size " +
			"(rollback.go, rollback; sync.go, getNewReplicaSet)"},
	{controller: "deployment", laws: "stay-within-bounds", worlds: []uint64{612, 949},
		why: "what each ReplicaSet gets of a change of size is worked out once, by annotations that somebody may " +
			"have made up; when the last is written the others say the new size already (sync.go, scale; " +
			"deployment_util.go, getReplicaSetFraction)"},
	{controller: "deployment", laws: "one-for-each-identity", worlds: []uint64{1894},
		why: "the ReplicaSet of a template that it has not been shown it finds again by the name alone, which is " +
			"another when somebody has changed status.collisionCount (sync.go, getNewReplicaSet)"},
	{controller: "deployment", laws: "dont-interfere", worlds: []uint64{1924},
		why: "whom a ReplicaSet deletes it picks among the pods that it had before it adopts one (replica_set.go, " +
			"syncReplicaSet, manageReplicas); that it lists them again to rank them makes no difference"},
	{controller: "daemonset", laws: "one-on-each-node " + missing, worlds: []uint64{687}, why: neverShown},
	{controller: "job", laws: missing, worlds: []uint64{106}, why: neverShown},
	{controller: "replicaset", laws: missing, worlds: []uint64{81, 87}, why: neverShown},
	{controller: "replication", laws: missing, worlds: []uint64{31, 55, 84, 156}, why: neverShown},
	{controller: "replication", laws: "adopt-all-matching", worlds: []uint64{947},
		why: "an orphan wakes those that select it when its labels or references change: that one which had ended " +
			"runs is no such change (replica_set.go, updatePod)"},
	{controller: "replication", laws: "never-too-many", worlds: []uint64{98},
		why: "what it made is expected for five minutes, and where its view stands still longer than that it " +
			"makes it again: it has no consistency store (replication_controller.go, NewReplicationManager; " +
			"kubernetes#129795)"},
	{controller: "replication", laws: "never-too-few", worlds: []uint64{1312, 1984},
		why: "and what it deleted it deletes again, one that is there for one that is not any more " +
			"(controller_utils.go, SatisfiedExpectations)"},
	{controller: "job", laws: "dont-interfere", worlds: []uint64{352},
		why: "what the answer to the patch says that takes the finalizer off is not looked at before the pod is " +
			"deleted (job_controller.go, deleteJobPods)"},
	{controller: "job", laws: "exact-status", worlds: []uint64{23, 117},
		why: "a pod that ends without the finalizer is taken for one that was counted (job_controller.go, " +
			"getValidPodsWithFilter)"},
	{controller: "statefulset", laws: settledLaws, worlds: []uint64{103, 1419, 1547},
		why: "while a claim belongs to another pod of the name no pod is made: somebody is to take it first, who is " +
			"not there, or waits himself (stateful_pod_control.go, PodClaimIsStale)"},
	{controller: "statefulset", laws: "exact-status", worlds: []uint64{483},
		why: "that a pod has gone which was shown last as an orphan, before it was adopted, wakes nobody " +
			"(stateful_set.go, deletePod)"},
	{controller: "statefulset", laws: "needed-objects-exist", worlds: []uint64{1325},
		why: "a revision that is being deleted is as good as any (controller_history.go, ListControllerRevisions; " +
			"stateful_set_control.go, getStatefulSetRevisions)"},
	{controller: "statefulset", laws: "never-too-few", worlds: []uint64{1552},
		why: "what the answer to the patch says that adopts a pod is not looked at before it is deleted " +
			"(stateful_set_control.go, processReplica)"},
	{controller: "endpointslice", laws: "never-too-many " + settledLaws, worlds: []uint64{260},
		why: "that a Service wants one slice is said of one whose pods fit into it"},
	{controller: "endpointslice", laws: "dont-interfere " + settledLaws, worlds: []uint64{322},
		why: "its slices are those with its labels, whoever controls them (endpointslice_controller.go, " +
			"syncService)"},
	{controller: "endpointslice", laws: "status-only-when-terminating", worlds: []uint64{322},
		why: "a Service that is being deleted is served as any other (endpointslice_controller.go, syncService)"},
}

const (
	settledLaws = "exact-sum level-driven any-order tolerate-other-writers dont-share" // about an owner that lacks something
	missing     = "never-hang " + settledLaws
	neverShown  = "a pod that it has made, or deleted, and that somebody has taken from it, or replaced, before " +
		"that was shown, in a gap of the watch, is expected for five minutes (controller_utils.go, " +
		"SatisfiedExpectations)"
)
