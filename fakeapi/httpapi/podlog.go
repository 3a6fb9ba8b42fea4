package httpapi

import (
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// podLog answers for the log of a container, which has printed nothing; nil when the path is about something
// else. It follows LogLocation of k8s.io/kubernetes/pkg/registry/core/pod.
func (h *Handler) podLog(r *http.Request, t *route.Target, f media.Format) *answer {
	switch {
	case t.Kind == nil || t.Kind.GVK.Kind != "Pod" || t.Custom() || t.Subresource != "log":
		return nil
	case r.Method != http.MethodGet:
		return fail(f, refusal.Method())
	}
	asked, errs, err := validation.LogOptions(r.URL.Query())
	if err != nil {
		return fail(f, apierrors.NewBadRequest(err.Error()))
	}
	if len(errs) > 0 {
		return fail(f, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, t.Name, errs))
	}
	resp := h.do(&fakeapi.Request{Verb: fakeapi.Get, Kind: t.Kind, Namespace: t.Namespace, Name: t.Name})
	if resp.Err != nil {
		return fail(f, resp.Err)
	}
	if err := hasContainer(resp.Object.(*corev1.Pod), asked.Container); err != nil {
		return fail(f, err)
	}
	return &answer{code: http.StatusOK, binary: []byte{}, contentType: "text/plain"}
}

// hasContainer refuses a container that a Pod does not have, and none where it has several.
func hasContainer(p *corev1.Pod, name string) error {
	var names []string
	for i := range p.Spec.InitContainers {
		names = append(names, p.Spec.InitContainers[i].Name)
	}
	for i := range p.Spec.Containers {
		names = append(names, p.Spec.Containers[i].Name)
	}
	for i := range p.Spec.EphemeralContainers {
		names = append(names, p.Spec.EphemeralContainers[i].Name)
	}
	for _, has := range names {
		if has == name {
			return nil
		}
	}
	switch {
	case name != "":
		return apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, p.Name))
	case len(p.Spec.Containers) > 1:
		return apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s",
			p.Name, names))
	}
	return nil
}
