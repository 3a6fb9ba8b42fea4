package mutants

import (
	"reflect"
	"testing"

	"github.com/threelaws/threelaws/controllers/internal/claimprotection"
	"github.com/threelaws/threelaws/controllers/internal/cronjob"
	"github.com/threelaws/threelaws/controllers/internal/daemonset"
	"github.com/threelaws/threelaws/controllers/internal/deployment"
	"github.com/threelaws/threelaws/controllers/internal/endpointslice"
	"github.com/threelaws/threelaws/controllers/internal/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/job"
	"github.com/threelaws/threelaws/controllers/internal/namespace"
	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/statefulset"
	"github.com/threelaws/threelaws/controllers/internal/ttl"
	"github.com/threelaws/threelaws/controllers/internal/volumeprotection"
	"github.com/threelaws/threelaws/controllers/kubelet"
)

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range All() {
		if seen[m.Name] {
			t.Errorf("%s occurs twice", m.Name)
		}
		seen[m.Name] = true
		if m.Clause == "" || m.Sentence == "" {
			t.Errorf("%s lacks a clause or a sentence", m.Name)
		}
		if c := m.Make(); c.New == nil {
			t.Errorf("%s has no controller", m.Name)
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d mutants", len(seen))
	}
}

// Every guard is disabled by a mutant, and no mutant is the reference controller.
func TestEveryGuardHasAMutant(t *testing.T) {
	used := map[string]bool{
		// A timer starts its reconciles, so no script step can come between their requests.
		// namespace.TestSuccessorIsNotLetGo covers it.
		"github.com/threelaws/threelaws/controllers/internal/namespace: Incarnation": true,
	}
	for _, m := range rows() {
		if m.without == nil {
			continue
		}
		fields := set(m.without, true)
		if len(fields) == 0 {
			t.Errorf("%s disables no guard", m.name)
		}
		for _, f := range fields {
			used[f] = true
		}
	}
	for _, family := range []any{replicas.Without{}, garbagecollector.Without{}, namespace.Without{},
		kubelet.Without{},
		cronjob.Without{},
		endpointslice.Without{},
		job.Without{},
		ttl.Without{},
		statefulset.Without{},
		claimprotection.Without{},
		volumeprotection.Without{},
		deployment.Without{},
		podgc.Without{},
		daemonset.Without{},
	} {
		for _, f := range set(family, false) {
			if !used[f] {
				t.Errorf("no mutant disables %s", f)
			}
		}
	}
}

// set lists the boolean fields of a struct that have this value, including fields of nested structs.
func set(without any, value bool) []string {
	v := reflect.ValueOf(without)
	var out []string
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Struct:
			out = append(out, set(f.Interface(), value)...)
		case f.Bool() == value:
			out = append(out, v.Type().PkgPath()+": "+v.Type().Field(i).Name)
		}
	}
	return out
}
