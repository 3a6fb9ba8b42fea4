package garbagecollector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// delete deletes an object if it still has the uid and version on which the decision rests (GC-5, GC-9). If the version
// changed, it tries again, unless the owners or the requested deletion policy changed. Without this retry, an object
// that is written often would never be collected (RULES K102). Upstream does not compare the policy, so its delete can
// replace a newly requested policy.
func (c *collector) delete(ctx context.Context, id identity, latest metav1.Object, refs []metav1.OwnerReference,
	policy metav1.DeletionPropagation) error {
	version := latest.GetResourceVersion()
	err := c.deleteAt(ctx, id, version, policy)
	if apierrors.IsConflict(err) {
		now, liveErr := c.get(ctx, id)
		switch {
		case apierrors.IsNotFound(liveErr):
			err = liveErr
		case liveErr != nil || now.GetUID() != id.uid || now.GetResourceVersion() == version:
		case c.without.ConflictCheck || equality.Semantic.DeepEqual(now.GetOwnerReferences(), refs) &&
			c.askedAlike(now, latest):
			err = c.deleteAt(ctx, id, "", policy)
		}
	}
	if apierrors.IsNotFound(err) {
		return c.absent(id)
	}
	return err
}

// askedAlike reports whether two states of an object request the same policy for its dependents.
func (c *collector) askedAlike(now, before metav1.Object) bool {
	return c.policy(now) == c.policy(before) || c.without.ConflictPolicy
}

func (c *collector) deleteAt(ctx context.Context, id identity, version string,
	policy metav1.DeletionPropagation) error {
	k, namespace, err := c.scope(id)
	if err != nil {
		return err
	}
	guards := &metav1.Preconditions{}
	if !c.without.UIDPrecondition {
		guards.UID = &id.uid
	}
	if version != "" && !c.without.VersionPrecondition {
		guards.ResourceVersion = &version
	}
	opts := metav1.DeleteOptions{Preconditions: guards, PropagationPolicy: &policy}
	if c.without.Policy && policy == metav1.DeletePropagationBackground {
		opts.PropagationPolicy = nil
	}
	return c.env.Client.Delete(ctx, k.GVK, namespace, id.name, opts)
}

// patch sends a strategic merge patch. For a kind without strategic merge patches, it sends a merge patch with all
// owner references, except those to the uids in drop. If drop is empty, this patch makes all references non-blocking.
// The merge patch has the version that was read as a precondition.
func (c *collector) patch(ctx context.Context, id identity, strategic []byte, drop []types.UID) error {
	k, namespace, err := c.scope(id)
	if err != nil {
		return err
	}
	_, err = c.env.Client.Patch(ctx, k.GVK, namespace, id.name,
		host.Patch{Type: types.StrategicMergePatchType, Data: strategic})
	if !apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	latest, err := c.get(ctx, id)
	if err != nil {
		return err
	}
	refs := []metav1.OwnerReference{}
	for _, r := range latest.GetOwnerReferences() {
		if slices.Contains(drop, r.UID) {
			continue
		}
		if len(drop) == 0 {
			r.BlockOwnerDeletion = new(bool)
		}
		refs = append(refs, r)
	}
	_, err = c.env.Client.Patch(ctx, k.GVK, namespace, id.name, host.Patch{
		Type: types.MergePatchType,
		Data: metadataPatch("ownerReferences", refs, id.uid, latest.GetResourceVersion()),
	})
	return err
}

// metadataPatch returns a merge patch of one metadata field, with a uid and a version as preconditions.
func metadataPatch(field string, value any, uid types.UID, version string) []byte {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		field: value, "uid": uid, "resourceVersion": version,
	}})
	if err != nil {
		panic("garbagecollector: a patch did not encode: " + err.Error())
	}
	return data
}

// errNotYet means that the finalizer's work must be done again.
var errNotYet = errors.New("the finalizer is still needed")

// removeFinalizer removes one of the garbage collector's finalizers. A missing finalizer or object counts as success.
// The patch contains all other finalizers, so it also contains the resourceVersion that was read. ready is called right
// before the patch is sent. If ready returns false, the result is errNotYet.
//
// Upstream finds the owner only by name. A recreated owner could lose its finalizer before its dependents are orphaned.
func (c *collector) removeFinalizer(ctx context.Context, n *node, finalizer string, ready func() bool) error {
	id := n.identity
	k, namespace, err := c.scope(id)
	if err != nil {
		return err
	}
	// Set released before the read. If an event resets it, the event shows the finalizer of this read or a newer one.
	n.released = true
	latest, err := c.get(ctx, id)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if latest.GetUID() != id.uid && !c.without.OrphanOwner || !has(latest, finalizer) {
		return nil
	}
	if !ready() {
		return errNotYet
	}
	rest := []string{}
	for _, f := range latest.GetFinalizers() {
		if f != finalizer && !c.without.OthersStay {
			rest = append(rest, f)
		}
	}
	_, err = c.env.Client.Patch(ctx, k.GVK, namespace, id.name, host.Patch{
		Type: types.MergePatchType,
		Data: metadataPatch("finalizers", rest, latest.GetUID(), latest.GetResourceVersion()),
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

const component = "garbage-collector-controller"

// complaint is a queued Event: a dependent refers to an owner in another namespace (GC-7, RULES K97). Complaints are
// not stored in the graph, because the dependent is likely to be deleted before the Event is written.
type complaint struct {
	about identity
	owner metav1.OwnerReference
}

// complain queues an Event about n's reference into another namespace. Event handlers cannot write it themselves.
func (c *collector) complain(n *node, owner *metav1.OwnerReference) {
	about := string(n.uid) + " " + string(owner.UID)
	c.complaints[about] = complaint{n.identity, *owner}
	c.env.Queue.Add("report " + about)
}

// report writes a queued Event. It drops an Event that the server refuses.
func (c *collector) report(ctx context.Context, about string) {
	p, ok := c.complaints[about]
	if !ok {
		return
	}
	delete(c.complaints, about)
	now := c.env.Now()
	for nanos := now.UnixNano(); ; nanos++ {
		event := p.event(metav1.NewTime(now))
		event.Name = fmt.Sprintf("%s.%x", p.about.name, nanos)
		if _, err := c.env.Client.Create(ctx, event); !apierrors.IsAlreadyExists(err) {
			return
		}
	}
}

func (p *complaint) event(now metav1.Time) *corev1.Event {
	namespace := p.about.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: p.about.apiVersion, Kind: p.about.kind,
			Namespace: p.about.namespace, Name: p.about.name, UID: p.about.uid,
		},
		Type:   corev1.EventTypeWarning,
		Reason: "OwnerRefInvalidNamespace",
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			p.owner.APIVersion, p.owner.Kind, p.about.namespace, p.owner.Name, p.owner.UID, p.about.namespace),
		Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: component},
		ReportingController: component,
	}
}

// isReport reports whether a key stands for a queued Event, and returns the rest of the key.
func isReport(key string) (about string, ok bool) { return strings.CutPrefix(key, "report ") }
