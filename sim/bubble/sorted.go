package bubble

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// sortedIndexer is a cache that lists in the order of names. client-go's lists in the order of a map.
type sortedIndexer struct{ cache.Indexer }

func sorted(objects []any) []any {
	slices.SortFunc(objects, func(a, b any) int {
		x, isObject := a.(metav1.Object)
		y, too := b.(metav1.Object)
		if !isObject || !too {
			return 0
		}
		return cmp.Or(cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
	return objects
}

func (s sortedIndexer) List() []any { return sorted(s.Indexer.List()) }

func (s sortedIndexer) ListKeys() []string { return slices.Sorted(slices.Values(s.Indexer.ListKeys())) }

func (s sortedIndexer) Index(name string, obj any) ([]any, error) {
	objects, err := s.Indexer.Index(name, obj)
	return sorted(objects), err
}

func (s sortedIndexer) ByIndex(name, value string) ([]any, error) {
	objects, err := s.Indexer.ByIndex(name, value)
	return sorted(objects), err
}

func (s sortedIndexer) IndexKeys(name, value string) ([]string, error) {
	keys, err := s.Indexer.IndexKeys(name, value)
	slices.Sort(keys)
	return keys, err
}

func (s sortedIndexer) ListIndexFuncValues(name string) []string {
	return slices.Sorted(slices.Values(s.Indexer.ListIndexFuncValues(name)))
}
