package fakeapi

import (
	"errors"
	"fmt"
	"maps"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// mutation holds the state of the calls to the mutating webhooks for one object. If a webhook changes the object, there
// is a second round for webhooks with reinvocationPolicy IfNeeded that have not seen the change.
type mutation struct {
	a      *webhook.Attributes
	hooks  []webhook.Hook
	again  bool            // a webhook changed the object, so a second round is needed
	second bool            // this is the second round
	asked  map[string]bool // by ID: webhooks with policy IfNeeded that were called since the last change
	due    map[string]bool // by ID: webhooks to call in the second round
}

// require moves the webhooks in m.asked to m.due, because the object has changed since their call.
func (m *mutation) require() {
	maps.Copy(m.due, m.asked)
	clear(m.asked)
}

// mutated calls the mutating webhooks, and reports whether a webhook changed obj. After a change, it calls plugins,
// which runs the server's own mutating plugins again. Then it starts the second round of webhooks.
func (c *call) mutated(op admissionv1.Operation, obj, old runtime.Object, dryRun bool, plugins func() error) (bool, error) {
	m := &mutation{a: c.attributes(op, obj, old, dryRun), hooks: c.hooks(mutatingHooks), asked: map[string]bool{},
		due: map[string]bool{}}
	if err := c.round(m); err != nil {
		return false, err
	}
	if m.again {
		before := m.a.Object.DeepCopyObject()
		if err := plugins(); err != nil {
			return false, err
		}
		if !equality.Semantic.DeepEqual(before, m.a.Object) {
			m.require()
		}
		m.second = true
		if err := c.round(m); err != nil {
			return false, err
		}
	}
	if s, ok := m.a.Object.(*autoscalingv1.Scale); ok && obj != nil && m.again && c.req.Subresource == "scale" {
		c.k.row.Scale.Write(obj, s.Spec.Replicas)
	}
	return m.again, nil
}

func (c *call) round(m *mutation) error {
	for i := range m.hooks {
		h := &m.hooks[i]
		f, err := c.matched(h, m.a)
		if err != nil {
			return err
		}
		if f == nil || m.second && !m.due[h.ID] {
			continue
		}
		changed, err := false, error(nil)
		if m.a.DryRun && !h.Dry() {
			err = webhook.NoDryRun(h.Name)
		} else {
			changed, err = c.askMutating(h, m.a, f)
		}
		if changed {
			m.require()
			m.again = true
		}
		if h.Again() {
			m.asked[h.ID] = true
		}
		if err = settled(h, err); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) askMutating(h *webhook.Hook, a *webhook.Attributes, f *forms) (changed bool, err error) {
	answer, err := c.send(h, a, f)
	if err != nil || len(answer.Patch) == 0 {
		return false, err
	}
	patch, err := jsonpatch.DecodePatch(answer.Patch)
	switch {
	case err != nil:
		return false, &webhook.Failure{Webhook: h.Name,
			Reason: fmt.Errorf("received undecodable patch in webhook response: %w", err)}
	case len(patch) == 0:
		return false, nil
	case a.Object == nil:
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, "+
			"which is not supported for this operation", h.Name))
	case *answer.PatchType != admissionv1.PatchTypeJSONPatch:
		return false, &webhook.Failure{Webhook: h.Name,
			Reason: fmt.Errorf("unsupported patch type %q", *answer.PatchType)}
	}
	out, err := c.patchedBy(patch, f)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	f.complete(out)
	changed = !equality.Semantic.DeepEqual(f.obj, out)
	if out, err = c.back(out, a, f); err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if f.as != nil {
		if err := c.decoded(out); err != nil {
			return false, err
		}
	}
	replaceContent(a.Object, out)
	return changed, nil
}

// patchedBy applies a patch to the object in the version that the webhook received.
func (c *call) patchedBy(patch jsonpatch.Patch, f *forms) (runtime.Object, error) {
	text, err := webhook.JSON(f.obj)
	if err != nil {
		return nil, err
	}
	if text, err = patch.Apply(text); err != nil {
		return nil, err
	}
	if _, custom := f.obj.(*unstructured.Unstructured); custom {
		u := &unstructured.Unstructured{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &u.Object); err != nil {
			return nil, err
		}
		if u.GroupVersionKind() != f.to.Kind {
			return nil, errOtherKind
		}
		return u, nil
	}
	out := reflect.New(reflect.TypeOf(f.obj).Elem()).Interface().(runtime.Object)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, out); err != nil {
		return nil, err
	}
	// a patch may remove the kind or version: the object then keeps the webhook's
	is := out.GetObjectKind().GroupVersionKind()
	if is.Kind != "" && is.Kind != f.to.Kind.Kind || is.Version != "" && is.GroupVersion() != f.to.Kind.GroupVersion() {
		return nil, errOtherKind
	}
	out.GetObjectKind().SetGroupVersionKind(f.to.Kind)
	return out, nil
}

var errOtherKind = errors.New("the patch makes the object one of another kind")

func replaceContent(obj, from runtime.Object) {
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(from).Elem())
}
