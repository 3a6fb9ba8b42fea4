package fakeapi

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Start selects initial objects besides the namespaces "default" and "kube-system". A real cluster has all of them.
type Start struct {
	// Namespaces creates "kube-public" and "kube-node-lease".
	Namespaces bool
	// Service creates the Service "kubernetes" and an endpoint at an address that is reserved for documentation.
	Service bool
	// PriorityClasses creates the two system classes. Pods may use them even without this option.
	PriorityClasses bool
	// ServiceAccounts creates the service account "default" in every namespace, like kube-controller-manager. Pods may
	// use this account even without the option.
	ServiceAccounts bool
	// At is the creation time of initial objects. The default is the beginning of 2026.
	At time.Time
}

// Values of the Service "kubernetes"; see pkg/controlplane of k8s.io/kubernetes.
const (
	serviceAddress, endpointAddress, endpointPort = "10.96.0.1", "192.0.2.1", 6443
)

func (st *Start) objects() []runtime.Object {
	var all []runtime.Object
	namespaces := []string{metav1.NamespaceDefault, metav1.NamespaceSystem}
	if st.Namespaces {
		namespaces = append(namespaces, metav1.NamespacePublic, corev1.NamespaceNodeLease)
	}
	for _, name := range namespaces {
		all = append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if st.PriorityClasses && priorityClassKind != nil {
		all = append(all,
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "system-node-critical"},
				Value: 2_000_001_000, Description: "Used for system critical pods that must not be moved from " +
					"their current node."},
			&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "system-cluster-critical"},
				Value: 2_000_000_000, Description: "Used for system critical pods that must run in the cluster, but " +
					"can be moved to another node if necessary."})
	}
	if st.Service {
		all = append(all, kubernetesService()...)
	}
	return all
}

// kubernetesService returns the Service "kubernetes" with its endpoints, as pkg/controlplane creates them.
func kubernetesService() []runtime.Object {
	single, yes, https := corev1.IPFamilyPolicySingleStack, true, "https"
	port, tcp := int32(endpointPort), corev1.ProtocolTCP
	own := metav1.ObjectMeta{Name: "kubernetes", Namespace: metav1.NamespaceDefault}
	service, endpoints, slice := own, own, own
	service.Labels = map[string]string{"provider": "kubernetes", "component": "apiserver"}
	endpoints.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: own.Name}
	return []runtime.Object{
		&corev1.Service{ObjectMeta: service, Spec: corev1.ServiceSpec{
			Ports: []corev1.ServicePort{{Name: https, Protocol: tcp, Port: 443, TargetPort: intstr.FromInt32(port)}},
			Type:  corev1.ServiceTypeClusterIP, ClusterIP: serviceAddress, IPFamilyPolicy: &single,
			SessionAffinity: corev1.ServiceAffinityNone}},
		&corev1.Endpoints{ObjectMeta: endpoints, Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: endpointAddress}},
			Ports:     []corev1.EndpointPort{{Name: https, Port: port, Protocol: tcp}}}}},
		&discoveryv1.EndpointSlice{ObjectMeta: slice, AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{endpointAddress},
				Conditions: discoveryv1.EndpointConditions{Ready: &yes}}},
			Ports: []discoveryv1.EndpointPort{{Name: &https, Port: &port, Protocol: &tcp}}},
	}
}
