package registry

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// The kinds here are those that ownership touches only through their metadata:
// their specs are stored as they come, with the API's defaults.

var secrets = goType[corev1.Secret, corev1.SecretList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Resource: "secrets", Singular: "secret", Namespaced: true,
	Default: On(func(s *corev1.Secret) {
		if s.Type == "" {
			s.Type = corev1.SecretTypeOpaque
		}
		if len(s.StringData) > 0 && s.Data == nil {
			s.Data = map[string][]byte{}
		}
		for k, v := range s.StringData { //detcheck:ordered each key is set once
			s.Data[k] = []byte(v)
		}
		s.StringData = nil
	}),
	strategy: strategy{
		Create:       validation.Secret.Create,
		Canonicalize: On(func(s *corev1.Secret) { s.Data = mapOrNil(s.Data) }),
		Main: Update{
			Judge: validation.Secret.Update,
		},
		SelectableKeys: []string{"type"},
		Selectable:     func(obj runtime.Object, set fields.Set) { set["type"] = string(obj.(*corev1.Secret).Type) },
	},
})

var serviceAccounts = goType[corev1.ServiceAccount, corev1.ServiceAccountList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ServiceAccount"), Resource: "serviceaccounts", Singular: "serviceaccount",
	ShortNames: []string{"sa"}, Namespaced: true, ReturnDeleted: true,
	strategy: strategy{
		PrepareCreate: On(nameSecrets), Create: validation.ServiceAccount.Create,
		Main: Update{
			Prepare: Over(func(a, _ *corev1.ServiceAccount) { nameSecrets(a) }),
			Judge:   validation.ServiceAccount.Update,
		},
	},
})

// nameSecrets keeps of the references to secrets their names, which is all that they can say.
func nameSecrets(a *corev1.ServiceAccount) {
	for i := range a.Secrets {
		if kept := (corev1.ObjectReference{Name: a.Secrets[i].Name}); a.Secrets[i] != kept {
			a.Secrets = append([]corev1.ObjectReference(nil), a.Secrets...)
			a.Secrets[i] = kept
		}
	}
}

var leases = goType[coordinationv1.Lease, coordinationv1.LeaseList](&Kind{
	GVK: coordinationv1.SchemeGroupVersion.WithKind("Lease"), Resource: "leases", Singular: "lease",
	Namespaced: true, MustVersion: true, CreateOnUpdate: true,
	strategy: strategy{Create: validation.Lease.Create,
		PrepareCreate: On(func(l *coordinationv1.Lease) { l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil }),
		Main: Update{
			Prepare: Over(uncoordinated), Judge: validation.Lease.Update,
		},
	},
})

// uncoordinated drops what says whom a lease goes to next: the feature is off by default.
func uncoordinated(l, old *coordinationv1.Lease) {
	if old.Spec.Strategy == nil {
		l.Spec.Strategy = nil
	}
	if old.Spec.PreferredHolder == nil {
		l.Spec.PreferredHolder = nil
	}
}

var configMaps = goType[corev1.ConfigMap, corev1.ConfigMapList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Singular: "configmap",
	ShortNames: []string{"cm"},
	Namespaced: true,
	strategy: strategy{
		Create: validation.ConfigMap.Create,
		Canonicalize: On(func(c *corev1.ConfigMap) {
			c.Data, c.BinaryData = mapOrNil(c.Data), mapOrNil(c.BinaryData)
		}),
		Main: Update{Judge: validation.ConfigMap.Update},
	},
})
