package audit

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Sort is the category of an actor. It decides which writes are allowed.
type Sort uint8

const (
	Program Sort = iota // a service account, or a program that uses another kind of account
	Human               // a person, who may make any write
	Office              // a system component: a node, the scheduler, the garbage collector
	Known               // a known controller of kube-controller-manager
)

// Actor is the author of a request.
type Actor struct {
	Name string // the user; for a controller of kube-controller-manager, always its service account
	Sort Sort

	known    *Controller // the known controller, if Sort is Known
	manager  string      // the actor's name in managedFields; client-go by default takes it from the user agent
	controls []string    // the kinds of owners for which the actor creates dependents: "Kind" or "Kind.group"
	reports  []string    // the kinds whose status the actor writes
	reads    lookedAt
}

// Rules override the classification of users.
type Rules struct {
	Human, Program, Office *regexp.Regexp // patterns of user names; nil matches no name
}

// unknown is the actor of requests without a user in the log. It is never reported.
const unknown = "(unknown)"

const accountPrefix = "system:serviceaccount:"
const systemAccount = accountPrefix + "kube-system:"

const managerAgent = "kube-controller-manager/"

// byHand lists prefixes of the user agents of programs that people use.
var byHand = []string{"kubectl", "oc/", "helm", "Helm", "k9s", "Mozilla/", "curl/", "Wget/", "lens", "Lens",
	"Headlamp", "dashboard"}

type named struct {
	name string
	sort Sort
}

type actors struct {
	rules      Rules
	known      map[string]*Controller // service account -> known controller
	byIdentity map[[2]string]*Actor   // user and user agent -> actor
	byName     map[named]*Actor
}

func newActors(rules Rules, controllers []Controller) *actors {
	a := &actors{rules: rules, known: map[string]*Controller{}, byIdentity: map[[2]string]*Actor{},
		byName: map[named]*Actor{}}
	for i := range controllers {
		for _, account := range controllers[i].Accounts {
			a.known[account] = &controllers[i]
		}
	}
	return a
}

const mostIdentities = 1 << 14

// of returns the actor of a request.
func (a *actors) of(user, agent string) *Actor {
	id := [2]string{user, agent}
	if who := a.byIdentity[id]; who != nil {
		return who
	}
	name, sort := a.identify(user, agent)
	who := a.byName[named{name, sort}]
	if who == nil {
		who = &Actor{Name: name, Sort: sort, reads: lookedAt{}}
		who.manager, _, _ = strings.Cut(agent, "/")
		if sort == Known {
			who.known = a.known[strings.TrimPrefix(name, systemAccount)]
		}
		a.byName[named{name, sort}] = who
	}
	if len(a.byIdentity) >= mostIdentities {
		clear(a.byIdentity)
	}
	a.byIdentity[id] = who
	return who
}

func (a *actors) identify(user, agent string) (string, Sort) {
	if user == "" {
		return unknown, Human
	}
	for _, r := range []struct {
		users *regexp.Regexp
		sort  Sort
	}{{a.rules.Human, Human}, {a.rules.Program, Program}, {a.rules.Office, Office}} {
		if r.users != nil && r.users.MatchString(user) {
			return user, r.sort
		}
	}
	if account, ok := strings.CutPrefix(user, accountPrefix); ok {
		return a.account(user, account)
	}
	if strings.HasPrefix(agent, managerAgent) {
		// If the controllers of kube-controller-manager share one account, each appends its name to the user agent.
		last := strings.TrimPrefix(agent[strings.LastIndex(agent, "/")+1:], systemAccount)
		if a.known[last] != nil || offices[last] {
			return a.account(systemAccount+last, "kube-system:"+last)
		}
		return user, Office
	}
	if strings.HasPrefix(user, "system:") {
		return user, Office
	}
	if looksBuilt(agent) && !slices.ContainsFunc(byHand, func(p string) bool { return strings.HasPrefix(agent, p) }) {
		return user, Program
	}
	return user, Human
}

// account returns the name and the sort of the actor that uses a service account.
func (a *actors) account(user, account string) (string, Sort) {
	name, system := strings.CutPrefix(account, "kube-system:")
	switch {
	case system && a.known[name] != nil:
		return user, Known
	case system && offices[name]:
		return user, Office
	}
	return user, Program
}

// looksBuilt reports whether client-go generated a user agent: "NAME/VERSION (OS/ARCH) kubernetes/COMMIT".
func looksBuilt(agent string) bool {
	_, rest, ok := strings.Cut(agent, " (")
	return ok && strings.Contains(rest, ") kubernetes/")
}

func (w *Actor) makes(kind string) bool { return slices.Contains(w.controls, kind) }

func (w *Actor) learn(kind string) {
	if !w.makes(kind) {
		w.controls = append(w.controls, kind)
	}
}

// offices lists the service accounts in kube-system that belong to system components: to the controllers of
// kube-controller-manager and of the cloud provider. An account in actors.known is a known controller instead.
var offices = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`attachdetach-controller bootstrap-signer certificate-controller
		clusterrole-aggregation-controller cloud-controller-manager cloud-node-controller cloud-provider
		device-taint-eviction-controller disruption-controller endpoint-controller endpointslice-controller
		endpointslicemirroring-controller ephemeral-volume-controller expand-controller generic-garbage-collector
		horizontal-pod-autoscaler kube-apiserver-serving-clustertrustbundle-publisher kube-controller-manager
		legacy-service-account-token-cleaner namespace-controller node-controller persistent-volume-binder
		pod-garbage-collector podcertificaterequest-cleaner podgroup-protection-controller pv-protection-controller
		pvc-protection-controller resource-claim-controller resourcequota-controller root-ca-cert-publisher
		route-controller selinux-warning-controller service-account-controller service-cidrs-controller
		service-controller shared-informers storage-version-migrator-controller taint-eviction-controller
		token-cleaner ttl-after-finished-controller ttl-controller validatingadmissionpolicy-status-controller
		volumeattributesclass-protection-controller tokens-controller node-ipam-controller statefulset-controller
		daemon-set-controller deployment-controller replicaset-controller replication-controller job-controller
		cronjob-controller`) {
		m[name] = true
	}
	return m
}()

const collectorAccount = "generic-garbage-collector"

// account formats a user for a column: a service account becomes namespace/name.
func account(user string) string {
	if name, ok := strings.CutPrefix(user, accountPrefix); ok {
		return strings.Replace(name, ":", "/", 1)
	}
	return user
}

// Controller describes a controller of kube-controller-manager. Its Process is the controller's name. Its Contract
// contains only the fields that can be checked with an [Object] from a log, such as the Selector.
type Controller struct {
	law.Actor
	Accounts []string // the controller's service accounts in kube-system
}

func (c *Controller) syncs(ref *metav1.OwnerReference) bool {
	return ref.Kind == c.For.Kind && groupKind(ref) == c.groupKind()
}

func (c *Controller) groupKind() string {
	if c.For.Group == "" {
		return c.For.Kind
	}
	return c.For.Kind + "." + c.For.Group
}

func (a *Auditor) controllerOf(ref *metav1.OwnerReference) *Controller {
	for i := range a.Controllers {
		if a.Controllers[i].syncs(ref) {
			return &a.Controllers[i]
		}
	}
	return nil
}

// claimable reports whether a known controller adopts objects of a kind by selector. If such an object is created
// without a ControllerRef, this controller may be meant to adopt it.
func (a *Auditor) claimable(kind string) bool {
	return slices.ContainsFunc(a.Controllers, func(c Controller) bool {
		return c.Selector != nil && slices.ContainsFunc(c.Owns, func(d schema.GroupVersionKind) bool {
			return d.Kind == kind
		})
	})
}

// accounts maps names of reference controllers to their service accounts in kube-controller-manager.
var accounts = map[string][]string{
	"replicaset":  {"replicaset-controller"},
	"replication": {"replication-controller"},
	"deployment":  {"deployment-controller"},
	"statefulset": {"statefulset-controller"},
	"daemonset":   {"daemon-set-controller"},
	"job":         {"job-controller"},
	"cronjob":     {"cronjob-controller"},
}

// Hosted returns the controllers of a table that have a service account in kube-controller-manager. If the table has
// several eras of a controller, the last era is used. The function empty makes an object without content.
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
