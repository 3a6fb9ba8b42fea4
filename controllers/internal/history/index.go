package history

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// ownerIndex indexes revisions by the uid of their controller; ownerless ones by namespace, which is never a uid.
const ownerIndex = "threelaws/owner"

// Index adds the index that [Own] uses to a process's cache of revisions, so that a set need not read all revisions.
// Every controller of the process may call it.
func Index(revisions cache.Indexer) {
	if revisions.GetIndexers()[ownerIndex] != nil {
		return
	}
	err := revisions.AddIndexers(cache.Indexers{ownerIndex: func(obj any) ([]string, error) {
		r := obj.(*appsv1.ControllerRevision)
		if owner := metav1.GetControllerOfNoCopy(r); owner != nil {
			return []string{string(owner.UID)}, nil
		}
		return []string{nobodys(r.Namespace)}, nil
	}})
	if err != nil {
		panic("history: the index was there and was not: " + err.Error())
	}
}

func nobodys(namespace string) string { return "in " + namespace }

// Own returns the cached revisions of a set's namespace that are the set's or ownerless, sorted by key.
func Own(revisions cache.Indexer, set metav1.Object) []*appsv1.ControllerRevision {
	own := by(revisions, ownerIndex, string(set.GetUID()))
	own = slices.DeleteFunc(own, func(r *appsv1.ControllerRevision) bool { return r.Namespace != set.GetNamespace() })
	if orphans := by(revisions, ownerIndex, nobodys(set.GetNamespace())); len(orphans) > 0 {
		own = append(own, orphans...)
		slices.SortFunc(own, func(a, b *appsv1.ControllerRevision) int { return strings.Compare(a.Name, b.Name) })
	}
	return own
}

// In returns the cached revisions of a namespace, sorted by key.
func In(revisions cache.Indexer, namespace string) []*appsv1.ControllerRevision {
	return by(revisions, cache.NamespaceIndex, namespace)
}

func by(revisions cache.Indexer, index, value string) []*appsv1.ControllerRevision {
	objs, err := revisions.ByIndex(index, value)
	if err != nil {
		panic("history: " + err.Error())
	}
	out := make([]*appsv1.ControllerRevision, len(objs))
	for i, obj := range objs {
		out[i] = obj.(*appsv1.ControllerRevision)
	}
	return out
}
