package pod

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// Of the pods that have all labels that are wanted none is left out, and none of another
// namespace is found.
func TestLabelled(t *testing.T) {
	pods := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	IndexLabels(pods)
	IndexLabels(pods) // for another controller of the process
	for i := range 8 {
		p := &corev1.Pod{}
		p.Namespace, p.Name, p.Labels = "a", fmt.Sprint(i), map[string]string{}
		for k, label := range []string{"app", "tier", "zone"} {
			if i>>k&1 == 1 {
				p.Labels[label] = "x"
			}
		}
		other := p.DeepCopy()
		other.Namespace = "b"
		for _, p := range []*corev1.Pod{p, other} {
			if err := pods.Add(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for want, names := range map[*map[string]string][]string{
		{}:                                      {"0", "1", "2", "3", "4", "5", "6", "7"},
		{"app": "x"}:                            {"1", "3", "5", "7"},
		{"tier": "x", "app": "x"}:               {"1", "3", "5", "7"}, // by the first of the labels
		{"zone": "x", "tier": "x"}:              {"2", "3", "6", "7"},
		{"app": "y"}:                            nil,
		{"zone": "x", "tier": "x", "app": "no"}: nil,
	} {
		var got []string
		for _, p := range Labelled(pods, "a", *want) {
			if p.Namespace != "a" {
				t.Errorf("%v: found in namespace %s", *want, p.Namespace)
			}
			got = append(got, p.Name)
		}
		if slices.Sort(got); !slices.Equal(got, names) {
			t.Errorf("%v: %v, want %v", *want, got, names)
		}
	}
}
