package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

const labelIndex = "threelaws/label" // pods by namespace and each of their labels

// IndexLabels gives a process's cache of pods the index that [Labelled] uses. It may be
// called for every controller of the process.
func IndexLabels(pods cache.Indexer) {
	if pods.GetIndexers()[labelIndex] != nil {
		return
	}
	err := pods.AddIndexers(cache.Indexers{labelIndex: func(obj any) ([]string, error) {
		p := obj.(*corev1.Pod)
		values := make([]string, 0, len(p.Labels))
		for k, v := range p.Labels { //detcheck:ordered a pod is found by each of them
			values = append(values, labelled(p.Namespace, k, v))
		}
		return values, nil
	}})
	if err != nil {
		panic("pod: the index was there and was not: " + err.Error())
	}
}

func labelled(namespace, key, value string) string { return namespace + "/" + key + "=" + value }

// Labelled are the cached pods of a namespace, in the order of their keys, that have one
// of the labels that are wanted: whoever selects by all of them need look at no other.
// Where none are wanted they are all of the namespace.
func Labelled(pods cache.Indexer, namespace string, want map[string]string) []*corev1.Pod {
	if len(want) == 0 {
		return In(pods, namespace)
	}
	first := ""
	for k := range want { //detcheck:ordered the first in the order of names
		if first == "" || k < first {
			first = k
		}
	}
	return by(pods, labelIndex, labelled(namespace, first, want[first]))
}
