// Package replicas is the code that ReplicaSet and ReplicationController share:
// keep a number of pods, all made from one template. A [Traits] holds what
// differs between the two, a [Era] how the controller decides which pods
// are its own.
//
// A sync reads the set and its pods from the caches, claims pods, creates or
// deletes the difference, and writes the status.
package replicas

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/ref"
)

// Traits is what differs between the two kinds of set.
type Traits struct {
	Name string // of the controller: "replicaset"
	GVK  schema.GroupVersionKind

	// Read reads an object of the kind.
	Read func(obj runtime.Object) Set
	// WithStatus returns a shallow copy of the object with another status.
	WithStatus func(obj runtime.Object, s appsv1.ReplicaSetStatus) runtime.Object
	// Terminating says that the status counts pods that are being deleted (in the
	// current era).
	Terminating bool
	// Consistent says that a sync waits until it was shown what the set wrote (in
	// the current era: RULES D45, D50).
	Consistent bool
}

// Set is one ReplicaSet or ReplicationController. It shares everything with the
// object it was read from.
type Set struct {
	*metav1.ObjectMeta
	Object          runtime.Object
	Replicas        int
	MinReadySeconds int32
	Template        *corev1.PodTemplateSpec
	Status          appsv1.ReplicaSetStatus

	equal       map[string]string
	expressions *metav1.LabelSelector
}

// Select makes the set select by equal labels. No labels select nothing.
func (s *Set) Select(equal map[string]string) { s.equal = equal }

// SelectBy makes the set select by a label selector. One that is nil or empty
// selects nothing: no set that owns every pod was ever meant.
func (s *Set) SelectBy(selector *metav1.LabelSelector) {
	if selector == nil {
		return
	}
	s.equal = selector.MatchLabels
	if len(selector.MatchExpressions) > 0 {
		s.expressions = selector
	}
}

// Matches says whether the set's selector matches labels.
func (s *Set) Matches(have map[string]string) bool {
	if s.expressions != nil {
		selector := s.Selector()
		return selector != nil && selector.Matches(labels.Set(have))
	}
	return len(s.equal) > 0 && ref.Contains(have, s.equal)
}

// Selector is the set's selector; nil for one that selects nothing, or that an
// earlier version of the server stored and nobody can read.
func (s *Set) Selector() labels.Selector {
	if s.expressions != nil {
		selector, err := metav1.LabelSelectorAsSelector(s.expressions)
		if err != nil {
			return nil
		}
		return selector
	}
	if len(s.equal) == 0 {
		return nil
	}
	return labels.SelectorFromValidatedSet(s.equal)
}

// selectsNothing reports whether the set has no selector that can be read.
func (s *Set) selectsNothing() bool {
	return len(s.equal) == 0 && s.expressions == nil || s.expressions != nil && s.Selector() == nil
}

// Selects is the form of [Set.Matches] that routes use.
func (k *Traits) Selects(owner runtime.Object, have map[string]string) bool {
	s := k.Read(owner)
	return s.Matches(have)
}

// wants is how many pods the set wants; negative for one that selects nothing, as
// nothing is done about those that it has.
func (s *Set) wants() int {
	if s.selectsNothing() {
		return -1
	}
	return s.Replicas
}
