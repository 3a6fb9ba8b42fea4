package audit

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// accounts maps names of controllers in the table to the service accounts of kube-controller-manager.
var accounts = map[string][]string{
	"replicaset":  {"replicaset-controller"},
	"replication": {"replication-controller"},
	"deployment":  {"deployment-controller"},
	"statefulset": {"statefulset-controller"},
	"daemonset":   {"daemon-set-controller"},
	"job":         {"job-controller"},
	"cronjob":     {"cronjob-controller"},
}

// Hosted returns the controllers of a table that kube-controller-manager runs under accounts of their own. Of several
// eras the last one counts. empty makes an object of a kind.
func Hosted(table []host.Controller, empty func(schema.GroupVersionKind) runtime.Object) []Controller {
	var all []Controller
	at := map[string]int{}
	for _, c := range table {
		names := accounts[c.Name]
		if names == nil || c.For.Empty() {
			continue
		}
		one := hosted(c, names, empty)
		if i, ok := at[c.Name]; ok {
			all[i] = one
			continue
		}
		at[c.Name] = len(all)
		all = append(all, one)
	}
	return all
}

func hosted(c host.Controller, names []string, empty func(schema.GroupVersionKind) runtime.Object) Controller {
	one := Controller{Accounts: names, Actor: law.Actor{Process: c.Name, Controller: c.Name, For: c.For, Owns: c.Owns,
		Contract: law.Contract{MayEdit: c.Contract.MayEdit, Finalizers: c.Contract.Finalizers, Polls: c.Contract.Polls}}}
	if c.Contract.Selector != nil {
		one.Selector = func(owner runtime.Object) labels.Selector {
			logged := owner.(*Object)
			o := empty(c.For)
			if o == nil || logged.spec == nil || json.Unmarshal(logged.spec, o) != nil {
				return nil
			}
			if of, err := meta.Accessor(o); err == nil {
				of.SetName(logged.Name)
				of.SetNamespace(logged.Namespace)
				of.SetUID(logged.UID)
				of.SetLabels(logged.Labels)
			}
			return c.Contract.Selector(o)
		}
	}
	return one
}
