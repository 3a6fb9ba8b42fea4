package scenarios

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// The numbers of random quiet runs: of controllers, and of whole programs, whose runs take a hundred times as long. In
// a quiet run no event and no response is late; only the order of the actors is random. The random runs begin with other
// resourceVersions, because a controller may copy a resourceVersion into a label. Two further runs create the owners in
// reverse order, one after the other, because only the first of two owners may get what both want. Fields that differ
// between quiet runs are not compared.
const (
	quietDraws        = 12
	quietProgramDraws = 4
	reversedDraws     = 2
)

// longer is the virtual time by which a compared run may exceed the longest quiet run. An even longer run is not
// compared, because a deadline may have passed and changed the world.
const longer = time.Minute

// enoughErrors is the number of equal errors after which a program counts as failing for ever. A conflict is logged too,
// but the next reconcile usually succeeds.
const enoughErrors = 5

// compareEnds returns the difference between the settled world and the settled worlds of quiet runs, or "". It compares
// nothing if the law same-end does not count, if one of these worlds has not settled, or if the run is too long. Most
// worlds are equal to the first quiet run, so other quiet runs are made only if necessary.
func compareEnds(r *Run, s *Step) string {
	l, _ := r.registry.law(sameEnd)
	if l == nil || r.counting.only != nil && !r.counting.only[l] || r.settled.how.Middle != "" || !r.settled.how.Settled {
		return ""
	}
	quiet := r.file.quiet.at(s)
	quiet.first.Do(func() { quiet.none = quiet.learn(r, s, 0, 1, 0) })
	if quiet.none != "" {
		return ""
	}
	is := r.endOf()
	if quiet.failing != "" {
		is = is.withoutStatus()
	}
	if is.difference(quiet.end, nil) == "" {
		return ""
	}
	quiet.draws.Do(func() {
		n := quietDraws
		if r.script(s).hosts() {
			n = quietProgramDraws
		}
		quiet.drawsNone = quiet.learn(r, s, 1, n+1+reversedDraws, reversedDraws)
	})
	if quiet.drawsNone != "" || r.t.World.Clock.Elapsed() > quiet.last+longer {
		return ""
	}
	return is.difference(quiet.end, quiet.differ)
}

// script returns a script with the steps before s, without the steps "schedule" and "judge".
func (r *Run) script(s *Step) *Script {
	f := *r.file
	f.Steps = nil
	for _, before := range r.file.Steps {
		if before == s {
			break
		}
		if before.verb != verbSchedule && before.verb != verbJudge {
			f.Steps = append(f.Steps, before)
		}
	}
	return &Script{File: &f, Registry: r.registry, Until: len(f.Steps), Replace: r.replace, bound: r.course.steps,
		idle: r.course.idle}
}

// learn runs the steps before s in the quiet schedules with a number from the parameter from up to, but not including,
// the parameter to. Schedule 0 is the default schedule, the others are random. The last ones, as many as reversed says,
// create the owners in reverse order. If a run does not settle or violates a law, learn returns the reason.
func (q *ends) learn(r *Run, s *Step, from, to, reversed int) (none string) {
	p := r.script(s)
	var halt func() bool
	if rec, is := r.course.choices.(*explore.Recorder); is {
		halt = rec.Halt
	}
	for i := from; i < to; i++ {
		prompt := &sim.Prompt{Halt: halt}
		if i > 0 {
			prompt.Seed = sim.NewSeed(explore.SeedAt(1, i))
		}
		run := p.begin(prompt)
		if i >= to-reversed {
			run.backwards()
		}
		for range i {
			_ = run.t.Server.Restore(nil) // it only raises the resourceVersion by one
		}
		out := p.execute(run)
		failing, is := run.failing(), run.endOf()
		if i > 0 && q.failing != "" || i == 0 && failing != "" {
			is = is.withoutStatus()
		}
		q.last = max(q.last, run.t.World.Clock.Elapsed())
		settled := out.Settled && len(out.Findings) == 0 && !run.course.ended
		run.stop()
		switch {
		case !settled:
			return "a quiet run does not settle, or violates a law"
		case i == 0:
			q.end, q.differ, q.failing = is, map[string]bool{}, failing
		default:
			is.differing(q.end, q.differ)
		}
	}
	return ""
}

// backwards makes a run create the owners in reverse order, one after the other. Before the controllers start, the run
// creates only the last owner of each kind: a starting controller lists its owners by name, in whatever order they were
// created.
func (r *Run) backwards() {
	var withheld []*manifest.Manifest // the last is the next
	r.sends = func(all []*manifest.Manifest) (now []*manifest.Manifest) {
		if len(r.t.Cluster.Processes()) > 0 {
			return all
		}
		for i, m := range all {
			same := func(o *manifest.Manifest) bool { return o.Kind.GVK == m.Kind.GVK }
			owns := func(c host.Controller) bool { return c.For == m.Kind.GVK }
			if slices.ContainsFunc(r.registry.Controllers, owns) && slices.ContainsFunc(all[i+1:], same) {
				withheld = append(withheld, m)
			} else {
				now = append(now, m)
			}
		}
		return now
	}
	r.begins = func() error {
		for len(withheld) > 0 && len(r.t.Cluster.Processes()) > 0 {
			last := len(withheld) - 1
			m := withheld[last]
			withheld = withheld[:last]
			r.settle(settleOptions{quiet: true, during: time.Minute, rest: true})
			if err := r.apply(m); err != nil {
				return err
			}
		}
		return nil
	}
}

// uncompared returns what is not compared in the runs of the script, or "".
func (p *Script) uncompared() string {
	for _, s := range p.program() {
		if s.comparesEnds() {
			return p.File.quiet.at(s).leaves()
		}
	}
	return ""
}

// failing returns the name of a program under test that repeats an error until the world has settled, or "". Such a
// program retries its work for ever, for example because a service does not run. Its status depends on the time at
// which it began to fail.
func (r *Run) failing() string {
	for _, p := range r.t.Cluster.Processes() {
		if p.Controller().Contract.Exempt {
			continue
		}
		if _, times := render.LastError(p.Printed(mostPrinted)); times >= enoughErrors {
			return p.Name
		}
	}
	return ""
}

// beside returns the UIDs of the objects that controllers have created which are not under test.
func (r *Run) beside() map[string]bool {
	uids := map[string]bool{}
	for i := range r.t.World.History.Len() {
		rec := r.t.World.History.At(i)
		if rec == nil || rec.Op != sim.Commit || rec.Before != nil {
			continue
		}
		if p := r.t.Cluster.Process(rec.Process); p != nil && p.Controller().Contract.Exempt {
			uids[rec.Object.UID] = true
		}
	}
	return uids
}

// endOf collects the field values of the settled objects. It skips Events, Leases, objects of controllers that are not
// under test, statuses that only such controllers write, and values that may depend on the order of events, such as
// names, UIDs, versions, times, annotations, the replicas of an autoscaler's target, and numbers and messages in the
// status. Placeholders replace times, keys, certificates, contents of Secrets, and generated names in other fields.
func (r *Run) endOf() end {
	all, strange, beside, scaled := end{}, strings.NewReplacer(r.generated()...), r.beside(), r.scaled()
	others := r.reportedByOthers()
	for _, k := range r.t.Server.Kinds() {
		if k.GVK.Kind == "Event" || k.GVK.Kind == "Lease" {
			continue
		}
		kind := &endOf{fields: map[string]map[string][]string{}, others: others[k.GVK.Kind]}
		r.each(k, func(ref sim.Ref, obj runtime.Object) {
			data, err := json.Marshal(obj)
			var o map[string]any
			if err != nil || json.Unmarshal(data, &o) != nil || beside[ref.UID] {
				return
			}
			kind.objects = append(kind.objects, ref.String())
			note := func(path, value string) {
				if kind.fields[path] == nil {
					kind.fields[path] = map[string][]string{}
				}
				if value = strange.Replace(sim.Timeless(value)); isPEM(value) || k.GVK.Kind == "Secret" && strings.HasPrefix(path, "data.") {
					value = "(secret)" // keys and passwords are random
				}
				kind.fields[path][value] = append(kind.fields[path][value], ref.String())
			}
			m := obj.(metav1.Object)
			for _, key := range slices.Sorted(maps.Keys(m.GetLabels())) {
				note("metadata.labels."+key, m.GetLabels()[key])
			}
			for _, f := range m.GetFinalizers() {
				note("metadata.finalizers", f)
			}
			for _, owner := range m.GetOwnerReferences() {
				note("metadata.ownerReferences", owner.Kind)
			}
			if m.GetDeletionTimestamp() != nil {
				note("metadata.deletionTimestamp", "set")
			}
			for _, field := range slices.Sorted(maps.Keys(o)) {
				value := o[field]
				switch field {
				case "metadata", "apiVersion", "kind":
				case "status":
					walk(field, value, func(path, value string) {
						if states(path, value) {
							note(path, value)
						}
					})
				default:
					walk(field, value, func(path, value string) {
						if path != "spec.replicas" || !scaled[sim.Ref{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}] {
							note(path, value)
						}
					})
				}
			}
		})
		if len(kind.objects) > 0 {
			all[k.GVK.GroupKind().String()] = kind
		}
	}
	return all
}

// reportedByOthers returns the kinds whose status only controllers write that are not under test. For example, the status
// of a Job depends on which states of the Job its controller has seen.
func (r *Run) reportedByOthers() map[string]bool {
	kinds, tested := map[string]bool{}, map[string]bool{}
	for i := range r.t.World.History.Len() {
		rec := r.t.World.History.At(i)
		if rec == nil || rec.Op != sim.Commit || rec.Subresource != "status" {
			continue
		}
		if p := r.t.Cluster.Process(rec.Process); p != nil && p.Controller().Contract.Exempt {
			kinds[rec.Object.Kind] = true
		} else {
			tested[rec.Object.Kind] = true
		}
	}
	for kind := range tested { //detcheck:ordered each is removed
		delete(kinds, kind)
	}
	return kinds
}

// scaled returns the targets of HorizontalPodAutoscalers, which change the number of replicas.
func (r *Run) scaled() map[sim.Ref]bool {
	all := map[sim.Ref]bool{}
	r.each(r.t.Server.KindNamed("hpa"), func(ref sim.Ref, obj runtime.Object) {
		var hpa struct {
			Spec struct{ ScaleTargetRef struct{ Kind, Name string } }
		}
		if data, err := json.Marshal(obj); err == nil && json.Unmarshal(data, &hpa) == nil {
			to := hpa.Spec.ScaleTargetRef
			all[sim.Ref{Kind: to.Kind, Namespace: ref.Namespace, Name: to.Name}] = true
		}
	})
	return all
}

// isPEM reports whether a text is a key or a certificate in PEM, or in base64 of PEM.
func isPEM(text string) bool {
	return strings.HasPrefix(text, "-----BEGIN ") || strings.HasPrefix(text, "LS0tLS1CRUdJTi")
}

// generated returns all generated names and UIDs, each followed by its placeholder.
func (r *Run) generated() (pairs []string) {
	for _, k := range r.t.Server.Kinds() {
		r.t.Server.Each(k, func(obj runtime.Object) bool {
			m := obj.(metav1.Object)
			if m.GetUID() != "" {
				pairs = append(pairs, string(m.GetUID()), "(uid)")
			}
			if m.GetGenerateName() != "" {
				pairs = append(pairs, m.GetName(), "(name)")
			}
			return true
		})
	}
	return pairs
}
