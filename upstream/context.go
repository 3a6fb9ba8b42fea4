package upstream

import (
	"context"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/warning"

	"github.com/threelaws/threelaws/fakeapi"
)

// actKey is where the context of a request has what the server says of it.
type actKey struct{}

// requestContext is the context in which kube-apiserver asks a strategy.
func requestContext(a *fakeapi.Act, verb string) context.Context {
	namespace := a.Namespace
	if !a.Kind.Namespaced {
		namespace = metav1.NamespaceNone
	}
	ctx := context.WithValue(context.Background(), actKey{}, a)
	ctx = request.WithNamespace(ctx, namespace)
	ctx = request.WithUser(ctx, userInfo(&a.User))
	gvr := a.Kind.GVR()
	prefix := "apis"
	if gvr.Group == "" {
		prefix = "api"
	}
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{IsResourceRequest: true, Verb: verb, APIPrefix: prefix,
		APIGroup: gvr.Group, APIVersion: gvr.Version, Resource: gvr.Resource, Subresource: a.Subresource,
		Namespace: namespace, Name: a.Name})
	return warning.WithWarningRecorder(ctx, recorder{a})
}

func userInfo(u *authenticationv1.UserInfo) user.Info {
	info := &user.DefaultInfo{Name: u.Username, UID: u.UID, Groups: u.Groups}
	for k, v := range u.Extra {
		if info.Extra == nil {
			info.Extra = map[string][]string{}
		}
		info.Extra[k] = v
	}
	return info
}

// recorder collects the warnings of a request.
type recorder struct{ a *fakeapi.Act }

// AddWarning implements warning.Recorder.
func (r recorder) AddWarning(_, text string) { r.a.Warnings = append(r.a.Warnings, text) }
