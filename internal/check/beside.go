package check

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// finishes are the controllers that bring to an end what has one: Jobs end, Pods are ready. Those of kinds that have
// none, as Deployments, are left to With: a fault would strike them as well, and their laws are not the operator's.
var finishes = map[string][]string{
	"CronJob":               {"cronjob", "job", "kubelet"},
	"Job":                   {"job", "kubelet"},
	"Pod":                   {"kubelet"},
	"PersistentVolumeClaim": {"persistentvolumeclaim-protection"},
}

// accompany puts controllers beside the subject, those that it does not replace, each once. The garbage collector always
// runs there, after them. The error is a name that there is not.
func (s *subject) accompany(more []string) error {
	g := builtin.Complete(&scenarios.Registry{Controllers: []host.Controller{s.Controller}})
	with := slices.DeleteFunc(slices.Clone(s.With), func(name string) bool { return name == "gc" })
	s.With, s.beside = nil, nil
	for i, name := range append(append(with, more...), "gc") {
		b, what := g.Controller(name)
		if what != "" {
			return mistake(fmt.Sprintf("With[%d]", i), "%s", what)
		}
		if c := &s.Controller; i >= len(with) && (b.Name == c.Name || !b.For.Empty() && b.For == c.For ||
			slices.ContainsFunc(s.beside, func(c host.Controller) bool { return c.Name == b.Name })) {
			continue
		}
		s.With, s.beside = append(s.With, name), append(s.beside, b)
	}
	return nil
}

// finish puts beside the subject what finishes the objects that it creates in a quiet run. It reports whether
// something new is there.
func (s *subject) finish(r *quiet) bool {
	var more []string
	for _, rec := range r.writes() {
		if rec.Before != nil || rec.After == nil {
			continue
		}
		if _, custom := r.Server.KindOf(rec.After.(runtime.Object)).Definition(); custom == nil {
			more = append(more, finishes[rec.Object.Kind]...)
		}
	}
	before := len(s.beside)
	if err := s.accompany(more); err != nil {
		panic("check: " + err.Error())
	}
	return len(s.beside) > before
}
