package upstream

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	apiregistrationinstall "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/threelaws/threelaws/fakeapi"

	// The groups of the API, which they add to the scheme.
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// Strategies are kube-apiserver's for every kind that package fakeapi has. They may be shared by
// servers, and used concurrently.
func Strategies() fakeapi.Strategies {
	// Privileged containers are allowed, as every cluster's server is told to.
	capabilities.Setup(true, 0)
	all := fakeapi.Strategies{}
	for _, kinds := range [][]*strategy{coreKinds(), workloadsKinds(), accessKinds(), infrastructureKinds(),
		definingKinds()} {
		for _, s := range kinds {
			all[s.kind] = s
		}
	}
	return all
}

// of is the strategy of a kind of Kubernetes' own scheme.
func of(gv schema.GroupVersion, kind string, main both) *strategy {
	return &strategy{kind: gv.WithKind(kind), scheme: legacyscheme.Scheme, main: main,
		sub: map[string]rest.RESTUpdateStrategy{}}
}

// through adds the strategy of a subresource.
func (s *strategy) through(subresource string, u rest.RESTUpdateStrategy) *strategy {
	s.sub[subresource] = u
	return s
}

// after adds what the storage does before it asks the strategy.
func (s *strategy) after(begin func(a *fakeapi.Act, obj, old runtime.Object) error) *strategy {
	s.begin = begin
	return s
}

// definingKinds are the kinds of the two servers that kube-apiserver has inside it:
// they make further kinds, and have schemes of their own.
func definingKinds() []*strategy {
	definitions, services := runtime.NewScheme(), runtime.NewScheme()
	apiextensionsinstall.Install(definitions)
	apiregistrationinstall.Install(services)
	crd := of(apiextensionsv1.SchemeGroupVersion, "CustomResourceDefinition",
		customresourcedefinition.NewStrategy(definitions)).
		through("status", customresourcedefinition.NewStatusStrategy(definitions))
	api := of(apiregistrationv1.SchemeGroupVersion, "APIService", apiservice.NewStrategy(services)).
		through("status", apiservice.NewStatusStrategy(services))
	crd.scheme, api.scheme = definitions, services
	crd.asJSON, api.asJSON = true, true
	return []*strategy{crd, api}
}

// everything is an authorizer of a server without authorization.
var everything = authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string,
	error) {
	return authorizer.DecisionAllow, "", nil
})

// namespaces reads the namespaces of the server that a request was sent to.
type namespaces struct {
	corev1client.NamespaceInterface
}

// Get implements NamespaceInterface.
func (namespaces) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	a := ctx.Value(actKey{}).(*fakeapi.Act)
	k := a.Server.Kind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if ns, ok := a.Server.Lookup(k, "", name).(*corev1.Namespace); ok {
		return ns, nil
	}
	return nil, fmt.Errorf("namespaces %q not found", name)
}
