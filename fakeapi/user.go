package fakeapi

import (
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Admin is the user of a request that names none.
const Admin = "admin"

const accountPrefix = "system:serviceaccount:"

// AccountName is the name by which a service account is a user.
func AccountName(namespace, name string) string { return accountPrefix + namespace + ":" + name }

// UserNamed says of a user what the real server knows when it has read the
// credentials: the groups, and of a service account that is stored the uid. "" is
// the [Admin].
func (s *Server) UserNamed(name string) authenticationv1.UserInfo {
	if name == "" || name == Admin {
		return authenticationv1.UserInfo{Username: Admin, UID: Admin, Groups: []string{"system:masters", "system:authenticated"}}
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
