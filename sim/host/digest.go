package host

import (
	"fmt"
	"maps"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// volatile are the metadata fields of an unstructured object that differ
// between two rounds of a fight.
var volatile = map[string]bool{"uid": true, "resourceVersion": true, "generation": true, "creationTimestamp": true, "managedFields": true}

// digestTree folds an unstructured object into an abstract digest.
func digestTree(tree map[string]any, generated bool, h *sim.Hash) {
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		h.String(k)
		if k != "metadata" {
			digestValue(tree[k], h)
			continue
		}
		meta, _ := tree[k].(map[string]any)
		for _, m := range slices.Sorted(maps.Keys(meta)) {
			switch {
			case volatile[m], m == "name" && generated:
			case m == "deletionTimestamp":
				h.String(m)
			case m == "ownerReferences":
				refs, _ := meta[m].([]any)
				for _, r := range refs {
					ref, _ := r.(map[string]any)
					h.String(fmt.Sprint(ref["kind"], "/", ref["name"], "/", ref["controller"]))
				}
			default:
				h.String(m)
				digestValue(meta[m], h)
			}
		}
	}
}

func digestValue(v any, h *sim.Hash) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			h.String(k)
			digestValue(v[k], h)
		}
	case []any:
		h.Word(uint64(len(v)))
		for _, e := range v {
			digestValue(e, h)
		}
	default:
		h.String(fmt.Sprint(v))
	}
}
