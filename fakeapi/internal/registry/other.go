package registry

import (
	"fmt"
	"maps"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// otherKinds are kinds that ownership touches only through their metadata:
// their specs are stored as they come, with the API's defaults.
var otherKinds = []*Kind{services, secrets, serviceAccounts, claims, events, leases, disruptionBudgets, endpointSlices, clusterRoles}

var services = GoType[corev1.Service, corev1.ServiceList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Service"), Resource: "services", Singular: "service",
	ShortNames: []string{"svc"}, Categories: []string{"all"},
	Namespaced: true, Status: true, ReturnDeleted: true, Default: On(defaultService),
	strategy: strategy{
		NameRule:      apivalidation.NameIsDNSLabel,
		Prefix:        "services/specs",
		PrepareCreate: On(prepareService),
		Main:          Update{Prepare: Over(prepareServiceUpdate), again: []metaCheck{onUpdate, onCreate}},
		ForStatus: Update{Prepare: Over(func(s, old *corev1.Service) {
			s.Spec = old.Spec
		}), again: []metaCheck{onUpdate}},
		SelectableKeys: []string{"spec.clusterIP", "spec.type"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			s := obj.(*corev1.Service)
			set["spec.clusterIP"], set["spec.type"] = s.Spec.ClusterIP, string(s.Spec.Type)
		},
	},
})

func defaultService(s *corev1.Service) {
	if s.Spec.SessionAffinity == "" {
		s.Spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	if s.Spec.Type == "" {
		s.Spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
		if p.TargetPort == (intstr.IntOrString{}) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if s.Spec.InternalTrafficPolicy == nil && s.Spec.Type != corev1.ServiceTypeExternalName {
		s.Spec.InternalTrafficPolicy = &clusterInternal
	}
}

// prepareService gives a Service its address: a function of its uid, since
// nothing here routes to it.
func prepareService(s *corev1.Service) {
	s.Status = corev1.ServiceStatus{}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if s.Spec.ClusterIP == "" {
		h := uint32(0)
		for i := range len(s.UID) {
			h = h*31 + uint32(s.UID[i])
		}
		s.Spec.ClusterIP = fmt.Sprintf("10.%d.%d.%d", 96+h>>16&15, h>>8&255, 1+h&253)
	}
	if len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if s.Spec.IPFamilyPolicy == nil {
		single := corev1.IPFamilyPolicySingleStack
		s.Spec.IPFamilyPolicy = &single
	}
}

// prepareServiceUpdate keeps what a client left out and cannot change.
func prepareServiceUpdate(s, old *corev1.Service) {
	s.Status = old.Status
	if s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName {
		return
	}
	if s.Spec.ClusterIP == "" {
		s.Spec.ClusterIP = old.Spec.ClusterIP
	}
	if len(s.Spec.ClusterIPs) == 0 {
		s.Spec.ClusterIPs = old.Spec.ClusterIPs
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = old.Spec.IPFamilies
	}
	if s.Spec.IPFamilyPolicy == nil {
		s.Spec.IPFamilyPolicy = old.Spec.IPFamilyPolicy
	}
}

var secrets = GoType[corev1.Secret, corev1.SecretList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Resource: "secrets", Singular: "secret", Namespaced: true,
	Default: On(func(s *corev1.Secret) {
		if s.Type == "" {
			s.Type = corev1.SecretTypeOpaque
		}
		if len(s.StringData) > 0 && s.Data == nil {
			s.Data = map[string][]byte{}
		}
		for k, v := range s.StringData {
			s.Data[k] = []byte(v)
		}
		s.StringData = nil
	}),
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		Main:           Update{again: []metaCheck{onUpdate}},
		SelectableKeys: []string{"type"},
		Selectable:     func(obj runtime.Object, set fields.Set) { set["type"] = string(obj.(*corev1.Secret).Type) },
	},
})

var serviceAccounts = GoType[corev1.ServiceAccount, corev1.ServiceAccountList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("ServiceAccount"), Resource: "serviceaccounts", Singular: "serviceaccount",
	ShortNames: []string{"sa"}, Namespaced: true, ReturnDeleted: true,
	strategy: strategy{NameRule: apivalidation.ValidateServiceAccountName, Main: Update{again: []metaCheck{onUpdate}}},
})

const claimProtection = "kubernetes.io/pvc-protection"

var claims = GoType[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	Resource: "persistentvolumeclaims", Singular: "persistentvolumeclaim", ShortNames: []string{"pvc"},
	Namespaced: true, Status: true, ReturnDeleted: true, Default: On(defaultClaim),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Admit: func(obj, old runtime.Object) error {
			if m := metadata.Of(obj); old == nil && !slices.Contains(m.GetFinalizers(), claimProtection) {
				m.SetFinalizers(append(m.GetFinalizers(), claimProtection))
			}
			return nil
		},
		PrepareCreate: On(func(c *corev1.PersistentVolumeClaim) {
			c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		}),
		Main:      Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) { c.Status = old.Status }), again: []metaCheck{onUpdate, onCreate}},
		ForStatus: Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) { c.Spec = old.Spec }), again: []metaCheck{onUpdate}},
	},
})

var events = GoType[corev1.Event, corev1.EventList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Event"), Resource: "events", Singular: "event", ShortNames: []string{"ev"},
	Namespaced: true, CreateOnUpdate: true,
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		SelectableKeys: eventKeys,
		Selectable:     selectEvent,
	},
})

var eventKeys = []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
	"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"}

func selectEvent(obj runtime.Object, set fields.Set) {
	e := obj.(*corev1.Event)
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	values := [...]string{e.InvolvedObject.Kind, e.InvolvedObject.Namespace, e.InvolvedObject.Name, string(e.InvolvedObject.UID),
		e.InvolvedObject.APIVersion, e.InvolvedObject.ResourceVersion, e.InvolvedObject.FieldPath, e.Reason, e.ReportingController, source, e.Type}
	for i, key := range eventKeys {
		set[key] = values[i]
	}
}

var leases = GoType[coordinationv1.Lease, coordinationv1.LeaseList](&Kind{
	GVK: coordinationv1.SchemeGroupVersion.WithKind("Lease"), Resource: "leases", Singular: "lease",
	Namespaced: true, MustVersion: true, CreateOnUpdate: true,
	strategy: strategy{NameRule: apivalidation.NameIsDNSSubdomain, Main: Update{again: []metaCheck{onUpdate}}},
})

var disruptionBudgets = GoType[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](&Kind{
	GVK:      policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"),
	Resource: "poddisruptionbudgets", Singular: "poddisruptionbudget", ShortNames: []string{"pdb"},
	Namespaced: true, Status: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(p *policyv1.PodDisruptionBudget) {
			p.Status, p.Generation = policyv1.PodDisruptionBudgetStatus{}, 1
		}),
		ValidateCreate: check(validation.DisruptionBudget),
		Main: Update{Prepare: Over(func(p, old *policyv1.PodDisruptionBudget) {
			p.Status = old.Status
			if !equality.Semantic.DeepEqual(p.Spec, old.Spec) {
				p.Generation = old.Generation + 1
			}
		}), Validate: Compare(func(p, _ *policyv1.PodDisruptionBudget) field.ErrorList { return validation.DisruptionBudget(p) }), again: []metaCheck{onCreate}},
		ForStatus: Update{
			Prepare:  Over(func(p, old *policyv1.PodDisruptionBudget) { p.Spec = old.Spec }),
			Validate: Compare(func(p, _ *policyv1.PodDisruptionBudget) field.ErrorList { return validation.DisruptionBudgetStatus(p) }), again: []metaCheck{onUpdate},
		},
	},
})

var endpointSlices = GoType[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList](&Kind{
	GVK:      discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
	Resource: "endpointslices", Singular: "endpointslice", Namespaced: true,
	strategy: strategy{
		NameRule:      apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(e *discoveryv1.EndpointSlice) { e.Generation = 1 }),
		Main: Update{Prepare: Over(func(e, old *discoveryv1.EndpointSlice) {
			now, was := *e, *old
			now.ObjectMeta, was.ObjectMeta = metav1.ObjectMeta{}, metav1.ObjectMeta{}
			if !equality.Semantic.DeepEqual(now, was) || !maps.Equal(e.Labels, old.Labels) {
				e.Generation = old.Generation + 1
			}
		}), again: []metaCheck{onCreate}},
	},
})

var clusterRoles = GoType[rbacv1.ClusterRole, rbacv1.ClusterRoleList](&Kind{
	GVK: rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), Resource: "clusterroles", Singular: "clusterrole",
	strategy: strategy{Main: Update{again: []metaCheck{onCreate, onUpdate}}},
})
