package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// metaRule says whether the digests of an object include one field of its metadata. An exact digest includes every
// field except those with the rule never. An abstract digest leaves out what differs between two rounds of a fight.
type metaRule uint8

const (
	always    metaRule = iota
	never              // no digest includes the field: resourceVersion, which depends on changes to other objects
	exactOnly          // abstract digests leave the field out
	presence           // abstract digests include only whether the field is set
	named              // for the name: abstract digests include it unless the server generated it
	owners             // abstract digests include each owner without its UID
	annotated          // abstract digests include all annotations except createdByAnnotation
)

// metaRules lists the metadata fields whose rule is not always. In an unstructured object, a field is found by its JSON
// name. In a type of k8s.io/api, it is found by its number in the protobuf message ObjectMeta.
var metaRules = [...]struct {
	name  string
	field int
	rule  metaRule
}{
	{"name", 1, named},
	{"uid", 5, exactOnly},
	{"resourceVersion", 6, never},
	{"generation", 7, exactOnly},
	{"creationTimestamp", 8, exactOnly},
	{"deletionTimestamp", 9, presence},
	{"annotations", 12, annotated},
	{"ownerReferences", 13, owners},
	{"managedFields", 17, exactOnly},
}

// The JSON name and the protobuf number of the UID in an owner reference.
const (
	ownerUID      = "uid"
	ownerUIDField = 4
)

// createdByAnnotation contains the creator's UID and resource version. Controllers before ControllerRef set it.
const createdByAnnotation = "kubernetes.io/created-by"

func ruleOfField(field int) metaRule {
	for i := range metaRules {
		if metaRules[i].field == field {
			return metaRules[i].rule
		}
	}
	return always
}

func ruleOfName(name string) metaRule {
	for i := range metaRules {
		if metaRules[i].name == name {
			return metaRules[i].rule
		}
	}
	return always
}

// abstract adds a field to an abstract digest as the rule says: the whole field, only its name, or nothing.
func (r metaRule) abstract(name, content uint64, generated bool, h *sim.Hash) {
	switch {
	case r == exactOnly, r == named && generated:
	case r == presence:
		h.Word(name)
	default:
		h.Word(content)
	}
}

func digestTree(tree map[string]any, generated bool, exact, abstract *sim.Hash) {
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		meta, ok := tree[k].(map[string]any)
		if k != "metadata" || !ok {
			h := digestField(k, tree[k])
			exact.Word(h)
			abstract.Word(h)
			continue
		}
		for _, m := range slices.Sorted(maps.Keys(meta)) {
			digestMetaValue(m, meta[m], generated, exact, abstract)
		}
	}
}

func digestMetaValue(name string, value any, generated bool, exact, abstract *sim.Hash) {
	rule := ruleOfName(name)
	if rule == never {
		return
	}
	h := digestField(name, value)
	exact.Word(h)
	switch rule {
	case owners:
		refs, _ := value.([]any)
		for _, r := range refs {
			ref, _ := r.(map[string]any)
			digestFields(ref, ownerUID, abstract)
		}
	case annotated:
		all, _ := value.(map[string]any)
		digestFields(all, createdByAnnotation, abstract)
	default:
		rule.abstract(sim.HashString(name), h, generated, abstract)
	}
}

// digestFields adds the fields to h in the order of their names. It skips the field with the name in except.
func digestFields(fields map[string]any, except string, h *sim.Hash) {
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if k != except {
			h.Word(digestField(k, fields[k]))
		}
	}
}

func digestField(name string, v any) uint64 {
	var h sim.Hash
	h.String(name)
	digestValue(v, &h)
	return uint64(h)
}

func digestValue(v any, h *sim.Hash) {
	switch v := v.(type) {
	case map[string]any:
		h.Word(uint64(len(v)))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			h.Word(digestField(k, v[k]))
		}
	case []any:
		h.Word(uint64(len(v)))
		for _, e := range v {
			digestValue(e, h)
		}
	case string:
		h.String(v)
	default:
		h.String(fmt.Sprintf("%T %v", v, v))
	}
}

// patchDigest returns the digest of a patch without its resourceVersion precondition. This precondition is the version
// that the process has read, and the digest of the reads includes that version.
func patchDigest(r *fakeapi.Request) uint64 {
	var tree map[string]any
	if _, version := r.Preconditions(); version == "" || json.Unmarshal(r.Patch, &tree) != nil {
		return sim.HashBytes(r.Patch)
	}
	var exact, abstract sim.Hash
	digestTree(tree, false, &exact, &abstract)
	return uint64(exact)
}

// optionsDigest returns the digest of a request's options, without the resource version in a delete's preconditions.
func optionsDigest(r *fakeapi.Request) uint64 {
	del := r.Delete
	if p := del.Preconditions; p != nil && p.ResourceVersion != nil {
		del.Preconditions = &metav1.Preconditions{UID: p.UID}
	}
	data, err := json.Marshal([]any{r.Create, r.Update, del, r.PatchO, r.List})
	if err != nil {
		panic("host: the options of a request do not encode: " + err.Error())
	}
	return sim.HashBytes(data)
}
