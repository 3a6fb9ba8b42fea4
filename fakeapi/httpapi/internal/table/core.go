package table

import (
	"fmt"
	"sort"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var (
	configMaps = prints(configMapCells, nameColumn, text("Data", corev1.ConfigMap{}.SwaggerDoc()["data"]), ageColumn)
	namespaces = prints(namespaceCells, nameColumn, text("Status", "The status of the namespace"), ageColumn)
	secrets    = prints(secretCells, nameColumn, text("Type", corev1.Secret{}.SwaggerDoc()["type"]),
		text("Data", corev1.Secret{}.SwaggerDoc()["data"]), ageColumn)
	serviceAccounts = prints(serviceAccountCells, nameColumn, ageColumn)
	leases          = prints(leaseCells, nameColumn,
		text("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]), ageColumn)
	quotas = prints(quotaCells, nameColumn,
		text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
		text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of "+
			"contention on the node."),
		ageColumn)
	disruptionBudgets = prints(disruptionBudgetCells, nameColumn,
		text("Min Available", "The minimum number of pods that must be available."),
		text("Max Unavailable", "The maximum number of pods that may be unavailable."),
		number("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time."), ageColumn)
)

func configMapCells(o *corev1.ConfigMap, now time.Time) []any {
	return []any{o.Name, int64(len(o.Data) + len(o.BinaryData)), since(o.CreationTimestamp, now)}
}

func namespaceCells(o *corev1.Namespace, now time.Time) []any {
	return []any{o.Name, string(o.Status.Phase), since(o.CreationTimestamp, now)}
}

func secretCells(o *corev1.Secret, now time.Time) []any {
	return []any{o.Name, string(o.Type), int64(len(o.Data)), since(o.CreationTimestamp, now)}
}

func serviceAccountCells(o *corev1.ServiceAccount, now time.Time) []any {
	return []any{o.Name, since(o.CreationTimestamp, now)}
}

func leaseCells(o *coordinationv1.Lease, now time.Time) []any {
	holder := ""
	if o.Spec.HolderIdentity != nil {
		holder = *o.Spec.HolderIdentity
	}
	return []any{o.Name, holder, since(o.CreationTimestamp, now)}
}

func quotaCells(o *corev1.ResourceQuota, now time.Time) []any {
	var names []string
	for name := range o.Status.Hard {
		names = append(names, string(name))
	}
	sort.Strings(names)
	var requests, limits []string
	for _, name := range names {
		used, hard := o.Status.Used[corev1.ResourceName(name)], o.Status.Hard[corev1.ResourceName(name)]
		line := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(name, "limits.") {
			limits = append(limits, line)
		} else {
			requests = append(requests, line)
		}
	}
	return []any{o.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), since(o.CreationTimestamp, now)}
}

func disruptionBudgetCells(o *policyv1.PodDisruptionBudget, now time.Time) []any {
	limit := func(v *intstr.IntOrString) string {
		if v == nil {
			return "N/A"
		}
		return v.String()
	}
	return []any{o.Name, limit(o.Spec.MinAvailable), limit(o.Spec.MaxUnavailable), int64(o.Status.DisruptionsAllowed),
		since(o.CreationTimestamp, now)}
}
