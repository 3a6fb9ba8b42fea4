package watch

import (
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Kind is a kind of objects, as the server serves it.
type Kind struct {
	Group, Version, Resource, Kind string
	Namespaced                     bool
}

// String is how kubectl names it: "deployments.apps".
func (k *Kind) String() string {
	if k.Group == "" {
		return k.Resource
	}
	return k.Resource + "." + k.Group
}

// apiVersion is what its objects say of themselves.
func (k *Kind) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// place is where an object stands, whatever its uid.
type place struct{ group, kind, namespace, name string }

// object is one version of an object, as far as it matters.
type object struct {
	of              *Kind
	namespace, name string
	uid             types.UID
	version         string
	generation      int64
	generated       bool // its name was made up by the server
	created         time.Time
	deleted         time.Time // when it is to be gone; zero where nobody deleted it
	grace           *int64    // the seconds that it was given then
	labels          map[string]string
	annotations     map[string]string
	finalizers      []string
	owners          []metav1.OwnerReference
	managers        []manager
	body            []byte // all but metadata and what is not looked at, as JSON; nil where it is not kept
	sum             uint64 // of the body

	selector labels.Selector // of a controller's object: what it selects; nil for none
	wants    int             // so many of them; -1 where it does not say
	waits    []string        // of a namespace that is ending: what it waits for
	node     string          // of a pod
	ended    bool            // of a pod: it runs no more
}

// manager is an entry of managedFields.
type manager struct {
	name, subresource string
	at                time.Time
	fields            json.RawMessage // until the version is stored
	sum               uint64          // of fields
}

var seed = maphash.MakeSeed()

// metadata is what is read of an object's metadata.
type metadata struct {
	Name              string                  `json:"name"`
	GenerateName      string                  `json:"generateName"`
	Namespace         string                  `json:"namespace"`
	UID               types.UID               `json:"uid"`
	ResourceVersion   string                  `json:"resourceVersion"`
	Generation        int64                   `json:"generation"`
	CreationTimestamp time.Time               `json:"creationTimestamp"`
	DeletionTimestamp *time.Time              `json:"deletionTimestamp"`
	GracePeriod       *int64                  `json:"deletionGracePeriodSeconds"`
	Labels            map[string]string       `json:"labels"`
	Annotations       map[string]string       `json:"annotations"`
	Finalizers        []string                `json:"finalizers"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences"`
	ManagedFields     []struct {
		Manager     string          `json:"manager"`
		Subresource string          `json:"subresource"`
		Time        time.Time       `json:"time"`
		FieldsV1    json.RawMessage `json:"fieldsV1"`
	} `json:"managedFields"`
}

// parse reads an object as a list or a watch has it.
func parse(k *Kind, raw []byte) (*object, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	var m metadata
	if err := json.Unmarshal(members["metadata"], &m); err != nil {
		return nil, err
	}
	o := &object{of: k, namespace: m.Namespace, name: m.Name, uid: m.UID, version: m.ResourceVersion,
		generation: m.Generation, generated: m.GenerateName != "", created: m.CreationTimestamp, labels: m.Labels,
		annotations: m.Annotations, finalizers: m.Finalizers, owners: m.OwnerReferences, wants: -1}
	if m.DeletionTimestamp != nil {
		o.deleted, o.grace = *m.DeletionTimestamp, m.GracePeriod
	}
	for _, f := range m.ManagedFields {
		o.managers = append(o.managers, manager{f.Manager, f.Subresource, f.Time, f.FieldsV1,
			maphash.Bytes(seed, f.FieldsV1)})
	}
	o.know(members)
	delete(members, "metadata")
	delete(members, "apiVersion")
	delete(members, "kind")
	if k.reports() {
		delete(members, "status")
	}
	if k.secret() {
		conceal(members)
	}
	o.body = joined(members)
	o.sum = maphash.Bytes(seed, o.body)
	return o, nil
}

// joined is an object of these members, in their order.
func joined(members map[string]json.RawMessage) []byte {
	size := 2
	for k, v := range members {
		size += len(k) + len(v) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for i, k := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(strconv.AppendQuote(b, k), ':'), members[k]...)
	}
	return append(b, '}')
}

// reports reports whether several report on the state of objects of a kind, which is no
// fight: a node is ready to its kubelet and not to who has not heard of it.
func (k *Kind) reports() bool { return k.Group == "" && (k.Kind == "Node" || k.Kind == "Pod") }

func (k *Kind) secret() bool { return k.Group == "" && k.Kind == "Secret" }

// conceal puts digests in the place of what nobody should read.
func conceal(members map[string]json.RawMessage) {
	var data map[string]string
	if json.Unmarshal(members["data"], &data) != nil {
		return
	}
	for k, v := range data {
		data[k] = "(secret " + short(sumOf(v)) + ")"
	}
	members["data"], _ = json.Marshal(data)
}

func (o *object) place() place { return place{o.of.Group, o.of.Kind, o.namespace, o.name} }

// ref is the object as pages name it.
func (o *object) ref() string {
	return sim.Ref{Kind: o.of.Kind, Namespace: o.namespace, Name: o.name}.String()
}

// controller is its ControllerRef, nil for none.
func (o *object) controller() *metav1.OwnerReference {
	for i := range o.owners {
		if c := o.owners[i].Controller; c != nil && *c {
			return &o.owners[i]
		}
	}
	return nil
}

// terminating reports whether it was deleted and is still there.
func (o *object) terminating() bool { return o != nil && !o.deleted.IsZero() }
