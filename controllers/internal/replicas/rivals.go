package replicas

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// fightRivals is what a controller must not do: it writes sets that are not the
// one it syncs, as they select the same pods (LAW-2).
func (r *reconciler) fightRivals(ctx context.Context, set *Set) error {
	for _, obj := range r.sets.List() {
		rival := r.kind.Read(obj.(runtime.Object))
		if rival.UID == set.UID || rival.Namespace != set.Namespace || rival.Replicas == 0 ||
			rival.DeletionTimestamp != nil || !rival.Matches(set.Template.Labels) {
			continue
		}
		var err error
		if r.options.Without.RivalsStay {
			err = r.client.Delete(ctx, r.kind.GVK, rival.Namespace, rival.Name, metav1.DeleteOptions{})
		} else {
			_, err = r.client.Patch(ctx, r.kind.GVK, rival.Namespace, rival.Name,
				host.Patch{Type: types.MergePatchType, Data: []byte(`{"spec":{"replicas":0}}`), Subresource: "scale"})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
