package registry

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	flowcontroldefaults "k8s.io/kubernetes/pkg/apis/flowcontrol/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Ownership does not depend on the specs of the kinds in this file. They are stored with the API's defaults.

var secrets = kind[corev1.Secret, corev1.SecretList](corev1.SchemeGroupVersion, validation.Secret, &Row{
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
	Canonicalize:   On(func(s *corev1.Secret) { s.Data = mapOrNil(s.Data) }),
	SelectableKeys: []string{"type"},
	Selectable:     selects(func(s *corev1.Secret, set fields.Set) { set["type"] = string(s.Type) }),
})

var serviceAccounts = kind[corev1.ServiceAccount, corev1.ServiceAccountList](corev1.SchemeGroupVersion,
	validation.ServiceAccount, &Row{
		ReturnDeleted: true, PrepareCreate: On(nameSecrets),
		Main: Update{Prepare: Over(func(a, _ *corev1.ServiceAccount) { nameSecrets(a) })},
	})

func nameSecrets(a *corev1.ServiceAccount) {
	for i := range a.Secrets {
		if kept := (corev1.ObjectReference{Name: a.Secrets[i].Name}); a.Secrets[i] != kept {
			a.Secrets = append([]corev1.ObjectReference(nil), a.Secrets...)
			a.Secrets[i] = kept
		}
	}
}

// leases holds the rules for Leases. They drop the fields of coordinated leader election, which is off by default.
var leases = kind[coordinationv1.Lease, coordinationv1.LeaseList](coordinationv1.SchemeGroupVersion, validation.Lease,
	&Row{
		MustVersion: true, CreateOnUpdate: true,
		PrepareCreate: On(func(l *coordinationv1.Lease) { l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil }),
		Main: Update{Prepare: Over(func(l, old *coordinationv1.Lease) {
			if old.Spec.Strategy == nil {
				l.Spec.Strategy = nil
			}
			if old.Spec.PreferredHolder == nil {
				l.Spec.PreferredHolder = nil
			}
		})},
	})

var configMaps = kind[corev1.ConfigMap, corev1.ConfigMapList](corev1.SchemeGroupVersion, validation.ConfigMap, &Row{
	Canonicalize: On(func(c *corev1.ConfigMap) {
		c.Data, c.BinaryData = mapOrNil(c.Data), mapOrNil(c.BinaryData)
	}),
})

// inert describes, by resource, the effects that objects have in a real cluster but not here.
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

// Inert describes the effects that objects of the kind have in a real cluster but not here; "" if there are none.
func (k *Row) Inert() string { return inert[k.Resource] }

// Flow control has no effect, because the server executes one request at a time.

var flowSchemas = kind[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](flowcontrolv1.SchemeGroupVersion,
	validation.FlowSchema, &Row{
		Counts: "Spec", Default: On(flowcontroldefaults.SetObjectDefaults_FlowSchema),
		ForStatus: Update{Prepare: Over(func(f, old *flowcontrolv1.FlowSchema) {
			metadataStays(&f.ObjectMeta, &old.ObjectMeta)
		})},
		ResetByStatus: wholeMetadata,
	})

var priorityLevels = kind[flowcontrolv1.PriorityLevelConfiguration, flowcontrolv1.PriorityLevelConfigurationList](
	flowcontrolv1.SchemeGroupVersion, validation.PriorityLevelConfiguration, &Row{
		Counts: "Spec", Default: On(flowcontroldefaults.SetObjectDefaults_PriorityLevelConfiguration),
		ForStatus: Update{Prepare: Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) {
			metadataStays(&l.ObjectMeta, &old.ObjectMeta)
		})},
		ResetByStatus: wholeMetadata,
	})

// metadataStays restores the old metadata in a status write, except managedFields.
func metadataStays(m, old *metav1.ObjectMeta) {
	managed := m.ManagedFields
	*m = *old
	m.ManagedFields = managed
}

// apiServices holds the rules for APIServices. The server stores them, but does not forward requests.
var apiServices = kind[apiregistrationv1.APIService, apiregistrationv1.APIServiceList](
	apiregistrationv1.SchemeGroupVersion, validation.APIService, &Row{
		MustVersion: true, Default: On(apiregistrationv1.SetObjectDefaults_APIService),
		Prefix: "apiregistration.k8s.io/apiservices",
		PrepareCreate: On(func(a *apiregistrationv1.APIService) {
			if a.Spec.Service == nil {
				a.Status.Conditions = []apiregistrationv1.APIServiceCondition{{
					Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue, Reason: "Local",
					Message:            "Local APIServices are always available",
					LastTransitionTime: metav1.Time(a.CreationTimestamp)}}
			}
		}),
		ForStatus: Update{Prepare: Over(func(a, old *apiregistrationv1.APIService) {
			a.Labels, a.Annotations = old.Labels, old.Annotations
			a.Finalizers, a.OwnerReferences = old.Finalizers, old.OwnerReferences
		})},
		ResetByStatus: wholeMetadata,
	})
