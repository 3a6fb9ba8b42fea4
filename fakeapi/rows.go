package fakeapi

import "slices"

// builtinRows is the table of built-in kinds of which objects are stored. A
// server numbers its tables in this order.
var builtinRows = slices.Concat(coreKinds, appsKinds, batchKinds, otherKinds, definitionKinds, limitKinds, autoscalingKinds)

// otherVersions are further versions of built-in kinds.
var otherVersions = []*row{autoscalersV1, newEvents}

// family are all versions of a built-in kind, the stored one first.
func (k *row) family() []*row {
	s := k
	if k.view != nil {
		s = k.view.stored
	}
	all := []*row{s}
	for _, other := range otherVersions {
		if other.view.stored == s {
			all = append(all, other)
		}
	}
	return all
}
