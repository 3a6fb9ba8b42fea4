package registry

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	flowcontroldefaults "k8s.io/kubernetes/pkg/apis/flowcontrol/v1"

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

// uncoordinated drops the fields of coordinated leader election, which is off by default.
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

// inert says what objects of a resource do in a cluster but not here, whatever controllers run.
var inert = map[string]string{
	"roles": unauthorized, "clusterroles": unauthorized,
	"rolebindings": unauthorized, "clusterrolebindings": unauthorized,

	"ingresses": "no traffic is routed", "ingressclasses": "no ingress controller runs",
	"networkpolicies": "no traffic is filtered",
	"ipaddresses":     "Services do not take their addresses from it",
	"servicecidrs":    "Services may name its addresses, and are given none of them",

	"persistentvolumes": "nothing binds, mounts or reclaims it", "storageclasses": "no volume is provisioned",
	"csidrivers": unattached, "csinodes": unattached, "csistoragecapacities": unattached,
	"volumeattachments": unattached, "volumeattributesclasses": "no volume is changed",

	"mutatingadmissionpolicies": unevaluated, "mutatingadmissionpolicybindings": unevaluated,

	"flowschemas": unqueued, "prioritylevelconfigurations": unqueued,
	"deviceclasses": undevised, "resourceclaims": undevised, "resourceclaimtemplates": undevised,
	"resourceslices": undevised,

	"runtimeclasses":             "neither overhead nor scheduling is applied to Pods",
	"certificatesigningrequests": "nothing is signed",
	"apiservices":                "no request is passed on",
	"horizontalpodautoscalers":   "nothing is scaled",
}

const (
	unauthorized = "everybody may do everything"
	unattached   = "no volume is attached"
	unevaluated  = "no policy is evaluated"
	unqueued     = "no request is queued"
	undevised    = "no device is allocated"
)

// Inert says what objects of the kind do in a cluster but not here, or "".
func (k *Kind) Inert() string { return inert[k.Resource] }

// Nothing here is queued: requests are executed one at a time.

var flowSchemas = goType[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](&Kind{
	GVK: flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"), Resource: "flowschemas", Singular: "flowschema",
	Status: true, Default: On(flowcontroldefaults.SetObjectDefaults_FlowSchema),
	strategy: strategy{
		PrepareCreate: On(func(f *flowcontrolv1.FlowSchema) {
			f.Status, f.Generation = flowcontrolv1.FlowSchemaStatus{}, 1
		}),
		Create: validation.FlowSchema.Create,
		Main: Update{
			Prepare: both(Recount(func(f *flowcontrolv1.FlowSchema) any { return f.Spec }),
				Over(func(f, old *flowcontrolv1.FlowSchema) { f.Status = old.Status })),
			Judge: validation.FlowSchema.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(f, old *flowcontrolv1.FlowSchema) {
				f.Spec = old.Spec
				metadataStays(&f.ObjectMeta, &old.ObjectMeta)
			}),
			Judge: validation.FlowSchema.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})

var priorityLevels = goType[flowcontrolv1.PriorityLevelConfiguration,
	flowcontrolv1.PriorityLevelConfigurationList](&Kind{
	GVK:      flowcontrolv1.SchemeGroupVersion.WithKind("PriorityLevelConfiguration"),
	Resource: "prioritylevelconfigurations", Singular: "prioritylevelconfiguration",
	Status: true, Default: On(flowcontroldefaults.SetObjectDefaults_PriorityLevelConfiguration),
	strategy: strategy{
		PrepareCreate: On(func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Status, l.Generation = flowcontrolv1.PriorityLevelConfigurationStatus{}, 1
		}),
		Create: validation.PriorityLevelConfiguration.Create,
		Main: Update{
			Prepare: both(Recount(func(l *flowcontrolv1.PriorityLevelConfiguration) any { return l.Spec }),
				Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) { l.Status = old.Status })),
			Judge: validation.PriorityLevelConfiguration.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) {
				l.Spec = old.Spec
				metadataStays(&l.ObjectMeta, &old.ObjectMeta)
			}),
			Judge: validation.PriorityLevelConfiguration.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})

// metadataStays restores metadata, except managedFields, in a status write.
func metadataStays(m, old *metav1.ObjectMeta) {
	managed := m.ManagedFields
	*m = *old
	m.ManagedFields = managed
}

// apiServices name servers of further groups. Requests are not passed on to them.
var apiServices = goType[apiregistrationv1.APIService, apiregistrationv1.APIServiceList](&Kind{
	GVK:      apiregistrationv1.SchemeGroupVersion.WithKind("APIService"),
	Resource: "apiservices", Singular: "apiservice", Categories: apiExtensions, Status: true, MustVersion: true,
	Default: On(apiregistrationv1.SetObjectDefaults_APIService),
	strategy: strategy{
		Prefix: "apiregistration.k8s.io/apiservices",
		Create: validation.APIService.Create,
		PrepareCreate: On(func(a *apiregistrationv1.APIService) {
			a.Status = apiregistrationv1.APIServiceStatus{}
			if a.Spec.Service == nil {
				a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
					Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, Reason: "Local",
					Message:            "Local APIServices are always available",
					LastTransitionTime: metav1.Time(a.CreationTimestamp)}}
			}
		}),
		Main: Update{
			Prepare: Over(func(a, old *apiregistrationv1.APIService) { a.Status = old.Status }),
			Judge:   validation.APIService.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *apiregistrationv1.APIService) {
				a.Spec, a.Labels, a.Annotations = old.Spec, old.Labels, old.Annotations
				a.Finalizers, a.OwnerReferences = old.Finalizers, old.OwnerReferences
			}),
			Judge: validation.APIService.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})
