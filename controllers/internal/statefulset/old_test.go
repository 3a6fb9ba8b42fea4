package statefulset

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/host"
)

func (*noOwners) UpdateStatus(_ context.Context, obj runtime.Object) (runtime.Object, error) {
	return obj, nil
}

// A set that is being deleted gets no more pods since ControllerRef; before, it did.
func TestOldOnesThatGo(t *testing.T) {
	now := metav1.Now()
	for name, c := range map[string]struct {
		era   Era
		going *metav1.Time
		makes int
	}{
		"selector": {Selector, nil, 1}, "selector, going": {Selector, &now, 1},
		"controllerref": {ControllerRef, nil, 1}, "controllerref, going": {ControllerRef, &now, 0},
	} {
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "set",
			DeletionTimestamp: c.going}}
		set.Spec.Replicas, set.Spec.Selector = new(int32(1)), &metav1.LabelSelector{}
		client := &noOwners{}
		pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
			cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		pod.Index(pods)
		s := &syncing{set: set, key: "default/web", reconciler: &reconciler{options: &Options{Era: c.era},
			env: &host.Env{Client: client, Now: time.Now}, pods: pods}}
		if err := s.syncOld(t.Context()); err != nil || len(client.wrote) != c.makes {
			t.Errorf("%s: %v, and wrote %q, want %d", name, err, client.wrote, c.makes)
		}
	}
}
