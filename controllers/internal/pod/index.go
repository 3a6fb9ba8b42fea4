package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

const (
	controllerIndex = "threelaws/controller" // pods by the uid of their controller
	orphanIndex     = "threelaws/orphans"    // pods without a controller by namespace
)

// Index gives a process's cache of pods the indexes that [Of] and [Orphans] use.
// It may be called for every controller of the process.
func Index(pods cache.Indexer) {
	if pods.GetIndexers()[controllerIndex] != nil {
		return
	}
	err := pods.AddIndexers(cache.Indexers{
		controllerIndex: func(obj any) ([]string, error) {
			if r := metav1.GetControllerOfNoCopy(obj.(*corev1.Pod)); r != nil {
				return []string{string(r.UID)}, nil
			}
			return nil, nil
		},
		orphanIndex: func(obj any) ([]string, error) {
			if p := obj.(*corev1.Pod); metav1.GetControllerOfNoCopy(p) == nil {
				return []string{p.Namespace}, nil
			}
			return nil, nil
		},
	})
	if err != nil {
		panic("pod: the indexes were there and were not: " + err.Error())
	}
}

// Of are the cached pods whose controller has a uid, in the order of their keys.
func Of(pods cache.Indexer, controller types.UID) []*corev1.Pod {
	return by(pods, controllerIndex, string(controller))
}

// Orphans are the cached pods of a namespace without a controller, in the order of
// their keys.
func Orphans(pods cache.Indexer, namespace string) []*corev1.Pod {
	return by(pods, orphanIndex, namespace)
}

// In are the cached pods of a namespace, in the order of their keys.
func In(pods cache.Indexer, namespace string) []*corev1.Pod {
	return by(pods, cache.NamespaceIndex, namespace)
}

// All are the cached pods, in the order of their keys.
func All(pods cache.Indexer) []*corev1.Pod { return typed(pods.List()) }

func by(pods cache.Indexer, index, value string) []*corev1.Pod {
	objs, err := pods.ByIndex(index, value)
	if err != nil {
		panic("pod: " + err.Error())
	}
	return typed(objs)
}

func typed(objs []any) []*corev1.Pod {
	out := make([]*corev1.Pod, len(objs))
	for i, obj := range objs {
		out[i] = obj.(*corev1.Pod)
	}
	return out
}
