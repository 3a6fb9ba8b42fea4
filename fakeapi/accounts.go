package fakeapi

import (
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// followAccounts creates missing default service accounts after a write to a namespace or a service account.
func (c *call) followAccounts() {
	for _, ev := range c.events {
		obj := ev.After
		if obj == nil {
			obj = ev.Last
		}
		m := obj.(metav1.Object)
		switch {
		case ev.Kind == namespaceKind && ev.After != nil:
			c.account(m.GetName())
		case ev.Kind == accountKind && ev.After == nil && m.GetName() == defaultAccount:
			c.account(m.GetNamespace())
		}
	}
}

const defaultAccount = "default"

func (c *call) account(namespace string) {
	e := c.s.find(c.s.tables[namespaceKind.ordinal], namespace)
	if e == nil || e.obj.(*corev1.Namespace).Status.Phase != corev1.NamespaceActive ||
		c.s.lookup(c.s.tables[accountKind.ordinal], namespace, defaultAccount) != nil {
		return
	}
	own := c.serverCall(accountKind, "")
	own.req = &Request{Verb: Create, Kind: accountKind, Namespace: namespace,
		UserAgent: "kube-controller-manager",
		Object:    &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: defaultAccount}}}
	own.create()
	c.events = append(c.events[:len(c.events):len(c.events)], own.events...)
}

const admin = "admin"

const accountPrefix = "system:serviceaccount:"

// AccountName returns the user name of a service account.
func AccountName(namespace, name string) string { return accountPrefix + namespace + ":" + name }

// UserNamed returns the user with this name: the groups, and the uid if the user is a stored service account. The names
// "" and "admin" stand for the administrator.
func (s *Server) UserNamed(name string) authenticationv1.UserInfo {
	if name == "" || name == admin {
		return authenticationv1.UserInfo{Username: admin, UID: admin,
			Groups: []string{"system:masters", "system:authenticated"}}
	}
	u := authenticationv1.UserInfo{Username: name, Groups: []string{"system:authenticated"}}
	namespace, account, ok := strings.Cut(strings.TrimPrefix(name, accountPrefix), ":")
	if !ok || !strings.HasPrefix(name, accountPrefix) {
		return u
	}
	u.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	if obj := s.Lookup(accountKind, namespace, account); obj != nil {
		u.UID = string(metadata.Of(obj).GetUID())
	}
	return u
}

var accountKind = kindOf(&corev1.ServiceAccount{})
