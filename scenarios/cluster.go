package scenarios

import (
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// lookup reads a stored object, nil when there is none.
func (r *Run) lookup(t target) metav1.Object {
	if k := r.t.Server.Kind(t.kind.GVK); k != nil {
		if o, ok := r.t.Server.Lookup(k, t.namespace, t.name).(metav1.Object); ok {
			return o
		}
	}
	return nil
}

// request executes one request of the user, inside a step.
func (r *Run) request(req *fakeapi.Request) error {
	if resp := r.t.Cluster.Request(law.User, req); resp.Err != nil {
		s := resp.Err.ErrStatus
		return errors.New(render.RefusalOf(&sim.Record{Code: int(s.Code), Reason: string(s.Reason), Message: s.Message}))
	}
	return nil
}

// processNames lists the names of the processes.
func (r *Run) processNames() []string {
	var names []string
	for _, p := range r.t.Cluster.Processes() {
		names = append(names, p.Name)
	}
	return names
}

// instances lists the processes a step means: one, every instance of a
// controller, or all.
func (r *Run) instances(name string) []*host.Process {
	var out []*host.Process
	for _, p := range r.t.Cluster.Processes() {
		base, _, _ := strings.Cut(p.Name, "#")
		if name == "all" || p.Name == name || base == name && !strings.Contains(name, "#") {
			out = append(out, p)
		}
	}
	return out
}
