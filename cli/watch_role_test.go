package cli

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// The role of docs/use/watch.md is accepted, says nothing but list and watch, and is enough:
// a server that allows nothing else, but discovery, is read whole.
func TestWatchRole(t *testing.T) {
	page, err := os.ReadFile("../docs/use/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, manifest, _ := strings.Cut(string(page), "```yaml\n")
	manifest, _, _ = strings.Cut(manifest, "```")
	s, _ := serveWith(t)
	var role rbacv1.ClusterRole
	for doc := range strings.SplitSeq(manifest, "---\n") {
		var head struct{ Kind string }
		if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
			t.Fatal(err)
		}
		s.apply(t, map[string]string{"Namespace": "/api/v1/namespaces",
			"ServiceAccount":     "/api/v1/namespaces/threelaws/serviceaccounts",
			"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
			"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"}[head.Kind], doc)
		if head.Kind == "ClusterRole" {
			if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, r := range role.Rules {
		if slices.ContainsFunc(r.Verbs, func(v string) bool { return v != "list" && v != "watch" }) ||
			slices.Contains(r.Resources, "secrets") {
			t.Errorf("it allows %v of %v", r.Verbs, r.Resources)
		}
	}
	to, _ := url.Parse(s.url)
	proxy := httputil.NewSingleHostReverseProxy(to)
	asked := 0
	guard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = to.Host
		group, resource := objects(r.URL.Path)
		if resource != "" {
			asked++
		}
		if r.Method != http.MethodGet || resource != "" && !allows(&role, group, resource) {
			http.Error(w, "the role does not allow it", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer guard.Close()
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte(kubeconfig(guard.URL, nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := typed(t, "watch --once --kubeconfig "+config)
	if got.code != 0 || got.err != "" || asked < 40 {
		t.Errorf("exit %d, asked %d times\n%s%s", got.code, asked, got.out, got.err)
	}
	got = typed(t, "watch --once --kinds secrets,pods --kubeconfig "+config)
	if got.code != 0 || !strings.Contains(got.err, "not looked at: secrets: ") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// objects is what a path lists, "" for one that lists no objects.
func objects(path string) (group, resource string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		return "", parts[2]
	case parts[0] == "apis" && len(parts) > 3:
		return parts[1], parts[3]
	}
	return "", ""
}

func allows(role *rbacv1.ClusterRole, group, resource string) bool {
	return slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) &&
			(slices.Contains(r.Resources, "*") || slices.Contains(r.Resources, resource))
	})
}
