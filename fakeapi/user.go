package fakeapi

import (
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

const admin = "admin"

const accountPrefix = "system:serviceaccount:"

// AccountName is the name by which a service account is a user.
func AccountName(namespace, name string) string { return accountPrefix + namespace + ":" + name }

// UserNamed returns the groups of a user, and the uid of a stored service account. "" is the administrator.
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
