package table

import (
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var (
	deviceSlice = resourcev1.ResourceSliceSpec{}.SwaggerDoc()

	deviceClasses = prints(func(o *resourcev1.DeviceClass, now time.Time) []any {
		return nameAndAge(&o.ObjectMeta, now)
	}, nameColumn, ageColumn)
	resourceClaims = prints(func(o *resourcev1.ResourceClaim, now time.Time) []any {
		return []any{o.Name, claimState(o), since(o.CreationTimestamp, now)}
	}, nameColumn, text("State", "A summary of the current state (allocated, pending, reserved, etc.)."), ageColumn)
	resourceClaimTemplates = prints(func(o *resourcev1.ResourceClaimTemplate, now time.Time) []any {
		return nameAndAge(&o.ObjectMeta, now)
	}, nameColumn, ageColumn)
	resourceSlices = prints(func(o *resourcev1.ResourceSlice, now time.Time) []any {
		node := ""
		if o.Spec.NodeName != nil {
			node = *o.Spec.NodeName
		}
		return []any{o.Name, node, o.Spec.Driver, o.Spec.Pool.Name, since(o.CreationTimestamp, now)}
	}, nameColumn, text("Node", deviceSlice["nodeName"]), text("Driver", deviceSlice["driver"]),
		text("Pool", resourcev1.ResourcePool{}.SwaggerDoc()["name"]), ageColumn)
)

func nameAndAge(m *metav1.ObjectMeta, now time.Time) []any {
	return []any{m.Name, since(m.CreationTimestamp, now)}
}

func claimState(o *resourcev1.ResourceClaim) string {
	var states []string
	if o.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case o.Status.Allocation != nil && len(o.Status.ReservedFor) > 0:
		states = append(states, "allocated", "reserved")
	case o.Status.Allocation != nil:
		states = append(states, "allocated")
	case o.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

var (
	// ipAddresses have a cell more than columns, as the real server's have.
	ipAddresses = prints(func(o *networkingv1.IPAddress, now time.Time) []any {
		parent := "<none>"
		if p := o.Spec.ParentRef; p != nil {
			resource := schema.GroupResource{Group: p.Group, Resource: p.Resource}
			parent = strings.ToLower(resource.String())
			if p.Namespace != "" {
				parent += "/" + p.Namespace
			}
			parent += "/" + p.Name
		}
		return []any{o.Name, parent, since(o.CreationTimestamp, now)}
	}, nameColumn, text("ParentRef", networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"]))
	serviceCIDRs = prints(func(o *networkingv1.ServiceCIDR, now time.Time) []any {
		return []any{o.Name, strings.Join(o.Spec.CIDRs, ","), since(o.CreationTimestamp, now)}
	}, nameColumn, text("CIDRs", networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"]), ageColumn)

	apiServices = prints(apiServiceCells, nameColumn,
		text("Service", "The reference to the service that hosts this API endpoint."),
		text("Available", "Whether this service is available."), ageColumn)
)

func apiServiceCells(o *apiregistrationv1.APIService, now time.Time) []any {
	service, available := "Local", string(apiregistrationv1.ConditionUnknown)
	if s := o.Spec.Service; s != nil {
		service = s.Namespace + "/" + s.Name
	}
	for _, c := range o.Status.Conditions {
		if c.Type != apiregistrationv1.Available {
			continue
		}
		if available = string(c.Status); c.Status != apiregistrationv1.ConditionTrue && c.Reason != "" {
			available += " (" + c.Reason + ")"
		}
		break
	}
	return []any{o.Name, service, available, since(o.CreationTimestamp, now)}
}
