package clusterwatch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// refKind returns the kind of an owner reference. nil means that the kind is not watched or not listed yet.
func (c *Cluster) refKind(r *metav1.OwnerReference) *ServedKind {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return nil
	}
	s := c.kinds[schema.GroupKind{Group: gv.Group, Kind: r.Kind}]
	if s == nil || !s.synced {
		return nil
	}
	return s.ServedKind
}

// lost describes the owners of an object that do not exist. Owners are searched by UID, in all kinds.
func (c *Cluster) lost(e *entry) string {
	o := e.now
	if o.terminating() {
		return ""
	}
	var parts []string
	for i := range o.OwnerReferences {
		r := &o.OwnerReferences[i]
		k := c.refKind(r)
		if k == nil {
			continue
		}
		is := c.byUID[r.UID]
		named := place{k.Group, k.Kind, "", r.Name}
		if k.Namespaced {
			named.namespace = o.Namespace
		}
		switch other := c.objects[named]; {
		case is != nil && (is.now.Name != r.Name || is.now.of.groupKind() != k.groupKind()):
			parts = append(parts, fmt.Sprintf("it names %s with the uid of %s", owner(r), is.now.ref()))
		case is != nil:
		case k.Namespaced && o.Namespace == "":
			parts = append(parts, fmt.Sprintf("it is cluster-scoped and names %s, which is in a namespace", owner(r)))
		case other != nil:
			parts = append(parts, fmt.Sprintf("its owner %s is gone: the existing %s has another uid (%s, not %s)",
				owner(r), owner(r), other.now.UID, r.UID))
		default:
			parts = append(parts, fmt.Sprintf("its owner %s is gone", owner(r)))
		}
	}
	return strings.Join(parts, "; ")
}

func (c *Cluster) foreign(e *entry) string {
	o := e.now
	var parts []string
	for i := range o.OwnerReferences {
		r := &o.OwnerReferences[i]
		k, is := c.refKind(r), c.byUID[r.UID]
		if k != nil && is != nil && k.Namespaced && is.now.Namespace != o.Namespace && is.now.Name == r.Name {
			parts = append(parts, fmt.Sprintf("its owner %s is in namespace %s, where the garbage collector does not "+
				"find it",
				owner(r), is.now.Namespace))
		}
	}
	return strings.Join(parts, "; ")
}

// neverOwned reports whether the garbage collector deletes an object at once: it has owner references but no
// finalizers, and none of its owners was ever seen. An owner is cluster-scoped or in the namespace of the object.
func (c *Cluster) neverOwned(o *Version) bool {
	for i := range o.OwnerReferences {
		r := &o.OwnerReferences[i]
		is := c.byUID[r.UID]
		_, was := c.gone.Get(r.UID)
		if c.refKind(r) == nil || was || is != nil && is.now.Namespace == o.Namespace {
			return false
		}
		if is != nil && is.now.Namespace == "" {
			return false
		}
	}
	return len(o.OwnerReferences) > 0 && !slices.ContainsFunc(o.Finalizers, func(f string) bool { return f != "" })
}

// traces lists labels that only controllers set, on the objects that they create.
var traces = []string{"pod-template-hash", "controller-revision-hash", "pod-template-generation",
	"statefulset.kubernetes.io/pod-name", "batch.kubernetes.io/controller-uid", "controller-uid"}

// controllerManager is the manager name of kube-controller-manager. Its controllers create each object of an adoptable
// kind, such as a Pod, with an owner.
const controllerManager = "kube-controller-manager"

// orphan reports an object that a controller created, that has no owner now, and that no owner selects. It does not
// report an object that was created without an owner.
func (c *Cluster) orphan(e *entry) string {
	o := e.now
	if !c.strays[e] || o.terminating() || o.ended {
		return ""
	}
	made := e.released || o.maker() == controllerManager ||
		slices.ContainsFunc(traces, func(t string) bool { return o.Labels[t] != "" })
	if !made {
		return ""
	}
	for _, k := range slices.Collect(maps.Keys(claims)) {
		if slices.Contains(claims[k], o.of.Kind) && c.kinds[schema.GroupKind{Group: k[0], Kind: k[1]}] == nil {
			return "" // the object may be selected by an owner that is not watched
		}
	}
	for s := range c.claimers[o.Namespace] {
		if s.now.selects(o) {
			return ""
		}
	}
	return "a controller created it, it has no owner, and no object selects it: it will never be deleted"
}

func (c *Cluster) handed(e *entry, x *change) {
	was, is := x.old.controller(), x.new.controller()
	if sameController(was, is) {
		return
	}
	old := func() *hold { return &hold{ref: *was, labels: x.old.Labels, at: x.at, who: x.who} }
	switch {
	case is == nil:
		e.had, e.released, e.taken = old(), true, nil
	case was != nil:
		e.taken, e.had = old(), nil
	case e.had == nil:
	case e.had.ref.UID == is.UID:
		c.again(e, x)
		e.had = nil
	default:
		e.taken, e.had = e.had, nil
		e.taken.who = x.who
		o := c.byUID[e.taken.ref.UID]
		if o == nil || !o.now.selects(x.new) || !maps.Equal(e.taken.labels, x.new.Labels) {
			e.taken = nil // not a takeover: the previous controller no longer selects the object
		}
	}
}

// again reports a controller that released an object and took it back, unless the object's labels changed.
func (c *Cluster) again(e *entry, x *change) {
	if !maps.Equal(e.had.labels, x.new.Labels) || x.at.Sub(e.had.at) > slowest {
		return
	}
	ref := owner(&e.had.ref)
	text := fmt.Sprintf("it lost its controller %s, and %s later it is controlled by %s again: its labels have not "+
		"changed", ref, x.at.Sub(e.had.at).Round(time.Millisecond), ref)
	if key := string(SecondThought) + ref; !e.told[key] {
		e.told[key] = true
		f := Finding{Sort: SecondThought, Law: laws[SecondThought], Object: x.new.ref(), Text: text, First: e.had.at,
			Last: x.at, Story: slices.Clone(e.lines)}
		if x.who != "" {
			f.Who = []string{x.who}
		}
		c.tell(f)
	}
}

// takeover reports an object that got another controller while the previous one exists and is not terminating.
func (c *Cluster) takeover(e *entry) string {
	if e.taken == nil {
		return ""
	}
	is, old := e.now.controller(), c.byUID[e.taken.ref.UID]
	if is == nil || old == nil || old.now.terminating() {
		return ""
	}
	return fmt.Sprintf("its controller was %s, which still exists, and is now %s", owner(&e.taken.ref), owner(is))
}

func (e *entry) taker() string {
	if e.taken == nil {
		return ""
	}
	return e.taken.who
}

func ownerOf(o *Version) string { return sim.Short(o.of.Kind) + "/" + o.Name }

// claims maps an owner's group and kind to the kinds that its controller adopts by selector, as in Kubernetes v1.36.
var claims = map[[2]string][]string{
	{"", "ReplicationController"}: {"Pod"},
	{"apps", "ReplicaSet"}:        {"Pod"},
	{"apps", "StatefulSet"}:       {"Pod", "ControllerRevision"},
	{"apps", "DaemonSet"}:         {"Pod", "ControllerRevision"},
	{"batch", "Job"}:              {"Pod"},
	{"apps", "Deployment"}:        {"ReplicaSet"},
}

// claimed lists the kinds that can be adopted.
var claimed = []string{"Pod", "ReplicaSet", "ControllerRevision"}

// claimable reports whether objects of a kind can be adopted by selector.
func (k *ServedKind) claimable() bool {
	return slices.Contains(claimed, k.Kind) && (k.Group == "" || k.Group == "apps")
}

// selects reports whether an owner would adopt an object without a controller.
func (o *Version) selects(x *Version) bool {
	return o.selector != nil && !o.terminating() && o.Namespace == x.Namespace &&
		slices.Contains(claims[[2]string{o.of.Group, o.of.Kind}], x.of.Kind) &&
		o.selector.Matches(labels.Set(x.Labels))
}

// know reads what the checks need from an object's content, such as the selector of a ReplicaSet and the node of a Pod.
func (o *Version) know(content map[string]any) {
	switch key := [2]string{o.of.Group, o.of.Kind}; {
	case claims[key] != nil:
		o.knowSelector(content["spec"])
	case key == [2]string{"", "Pod"}:
		o.node, _, _ = unstructured.NestedString(content, "spec", "nodeName")
		phase, _, _ := unstructured.NestedString(content, "status", "phase")
		o.ended = phase == "Succeeded" || phase == "Failed"
	case key == [2]string{"", "Namespace"} && o.terminating():
		var status struct {
			Conditions []metav1.Condition `json:"conditions"`
		}
		convert(content["status"], &status)
		for _, c := range status.Conditions {
			if c.Status == metav1.ConditionTrue {
				o.waits = append(o.waits, c.Message)
			}
		}
	}
}

func (o *Version) knowSelector(content any) {
	var spec struct {
		Replicas *int           `json:"replicas"`
		Selector map[string]any `json:"selector"`
	}
	if !convert(content, &spec) {
		return
	}
	if spec.Replicas != nil {
		o.wants = *spec.Replicas
	}
	if o.of.Kind == "ReplicationController" {
		spec.Selector = map[string]any{"matchLabels": spec.Selector}
	}
	var s metav1.LabelSelector
	if !convert(spec.Selector, &s) {
		return
	}
	if sel, err := metav1.LabelSelectorAsSelector(&s); err == nil && !sel.Empty() {
		o.selector = sel
	}
}

// convert decodes a part of an object into a struct with JSON tags.
func convert(content, into any) bool {
	m, ok := content.(map[string]any)
	return ok && runtime.DefaultUnstructuredConverter.FromUnstructured(m, into) == nil
}
