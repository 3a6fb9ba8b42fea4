package httpapi

import (
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
)

// readRequest makes the request to the server of one over HTTP: it reads the
// query and the body. The warnings are of the kind, and of what the body holds;
// they hold for a request that is refused as well.
func readRequest(
	r *http.Request, t *route.Target, verb fakeapi.Verb,
) (req *fakeapi.Request, warnings []string, err error) {
	req = &fakeapi.Request{Verb: verb, Kind: t.Kind, Subresource: t.Subresource, Namespace: t.Namespace, Name: t.Name,
		UserAgent: r.UserAgent()}
	warnings = deprecation(t.Kind)
	if verb == fakeapi.Get {
		if err := codec.Export(r); err != nil {
			return nil, warnings, err
		}
	}
	if verb == fakeapi.Get || verb == fakeapi.List {
		return req, warnings, codec.ListOptions(r, &req.List)
	}
	body, err := codec.Body(r)
	if err != nil {
		return nil, warnings, err
	}
	bodyKind := t.Kind.BodyKind(t.Subresource)
	switch verb {
	case fakeapi.Create:
		if err = codec.WriteOptions(r, &req.Create); err == nil {
			var ofBody []string
			req.Object, ofBody, err = codec.Decode(r, bodyKind, body, req.Create.FieldValidation)
			warnings = append(warnings, ofBody...)
		}
	case fakeapi.Update:
		if err = codec.WriteOptions(r, &req.Update); err == nil {
			var ofBody []string
			req.Object, ofBody, err = codec.Decode(r, bodyKind, body, req.Update.FieldValidation)
			warnings = append(warnings, ofBody...)
		}
	case fakeapi.Patch:
		if err = codec.WriteOptions(r, &req.PatchO); err == nil {
			req.Patch = body
			req.PatchType, err = patchType(r)
		}
	case fakeapi.DeleteCollection:
		if err = codec.ListOptions(r, &req.List); err == nil {
			req.Delete, err = codec.DeleteOptions(r, body)
		}
	case fakeapi.Delete:
		req.Delete, err = codec.DeleteOptions(r, body)
	}
	return req, warnings, err
}

func patchType(r *http.Request) (types.PatchType, error) {
	switch t := types.PatchType(media.ContentType(r)); t {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType:
		return t, nil
	}
	return "", refusal.PatchFormat()
}

// deprecation warns of a version of a kind that is on its way out.
func deprecation(k *fakeapi.Kind) []string {
	d, v := k.Definition()
	switch {
	case k.Deprecation() != "":
		return []string{k.Deprecation()}
	case d == nil || !v.Deprecated:
		return nil
	case v.DeprecationWarning != nil:
		return []string{*v.DeprecationWarning}
	}
	var better []string
	for _, other := range d.Spec.Versions {
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			better = append(better, other.Name)
		}
	}
	slices.SortFunc(better, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	text := fmt.Sprintf("%s/%s %s is deprecated", d.Spec.Group, v.Name, d.Spec.Names.Kind)
	if len(better) > 0 {
		text += fmt.Sprintf("; use %s/%s %s", d.Spec.Group, better[0], d.Spec.Names.Kind)
	}
	return []string{text}
}
