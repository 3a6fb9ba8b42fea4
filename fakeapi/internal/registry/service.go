package registry

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var services = goType[corev1.Service, corev1.ServiceList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Service"), Resource: "services", Singular: "service",
	ShortNames: []string{"svc"}, Categories: []string{"all"},
	Namespaced: true, Status: true, ReturnDeleted: true, CreateOnUpdate: true, Default: On(defaultService),
	strategy: strategy{
		NameRule:      apivalidation.NameIsDNSLabel,
		Prefix:        "services/specs",
		PrepareCreate: On(prepareService),
		Main:          Update{Prepare: Over(prepareServiceUpdate), again: checks{onUpdate, onCreate}},
		ForStatus: Update{Prepare: Over(func(s, old *corev1.Service) {
			s.Spec = old.Spec
		}), again: checks{onUpdate}},
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
