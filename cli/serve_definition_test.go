package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

const gizmoDefinition = `{"metadata":{"name":"gizmos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo","listKind":"GizmoList"},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true}}},
{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true}}}]}}`

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	gizmosPath      = "/apis/example.com/v1/namespaces/shop/gizmos"
	betaGizmosPath  = "/apis/example.com/v1beta1/namespaces/shop/gizmos"
	mapsPath        = "/api/v1/namespaces/shop/configmaps"
)

// send sends a request and returns the uid of what comes back.
func (s *served) send(t *testing.T, method, path, body string) (uid string) {
	t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/json-patch+json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, _ := io.ReadAll(resp.Body)
	if resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, data)
	}
	var object struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	return object.Metadata.UID
}

// gone waits until there is nothing at a path.
func (s *served) gone(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		resp, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is still there: %s", path, data)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// gizmo is a Gizmo of a version.
func gizmo(version, name string) string {
	return `{"apiVersion":"example.com/` + version + `","kind":"Gizmo","metadata":{"name":"` + name + `"}}`
}

// owned creates a Gizmo and a ConfigMap that names it as its owner, by a version.
func (s *served) owned(t *testing.T, name, version string) {
	t.Helper()
	uid := s.send(t, "POST", gizmosPath, gizmo("v1", name))
	s.send(t, "POST", mapsPath, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"example.com/%s",
		"kind":"Gizmo","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`, name, version, name, uid))
}

// A definition that is made while the collector and the namespace controller run is in
// force for them, whichever of its versions an owner is named by and stored in; when it
// goes, its objects go before it, and what they owned after them.
func TestServeDefinitions(t *testing.T) {
	s := startServe(t, "--controllers", "garbagecollector,namespace", "--realtime=false")
	s.send(t, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	s.send(t, "POST", definitionsPath, gizmoDefinition)
	for _, version := range []string{"v1", "v1beta1"} {
		for _, policy := range []string{"Background", "Foreground", "Orphan"} {
			name := strings.ToLower(policy) + "-" + version
			s.owned(t, name, version)
			s.send(t, "DELETE", gizmosPath+"/"+name, `{"propagationPolicy":"`+policy+`"}`)
			s.gone(t, gizmosPath+"/"+name)
			if policy == "Orphan" {
				s.send(t, "DELETE", mapsPath+"/"+name, "{}") // it is there
			}
			s.gone(t, mapsPath+"/"+name)
		}
	}
	s.owned(t, "stored", "v1")
	s.send(t, "PATCH", definitionsPath+"/gizmos.example.com", `[
		{"op":"replace","path":"/spec/versions/0/storage","value":false},
		{"op":"replace","path":"/spec/versions/1/storage","value":true}]`)
	s.owned(t, "moved", "v1")
	s.send(t, "DELETE", gizmosPath+"/stored", `{"propagationPolicy":"Foreground"}`)
	s.gone(t, gizmosPath+"/stored")
	s.gone(t, mapsPath+"/stored")
	s.send(t, "PATCH", definitionsPath+"/gizmos.example.com", `[{"op":"replace","path":"/spec/versions/0/served",
		"value":false}]`)
	s.send(t, "DELETE", betaGizmosPath+"/moved", "{}")

	s.send(t, "POST", betaGizmosPath, gizmo("v1beta1", "held"))
	s.send(t, "DELETE", "/api/v1/namespaces/shop", "{}")
	s.gone(t, "/api/v1/namespaces/shop")
	s.gone(t, betaGizmosPath+"/held")

	s.send(t, "DELETE", definitionsPath+"/gizmos.example.com", "{}")
	s.gone(t, definitionsPath+"/gizmos.example.com")
	s.send(t, "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
	s.send(t, "POST", definitionsPath, gizmoDefinition)
	s.owned(t, "last", "v1beta1")
	s.send(t, "PATCH", gizmosPath+"/last",
		`[{"op":"add","path":"/metadata/finalizers","value":["example.com/hold"]}]`)
	s.send(t, "DELETE", definitionsPath+"/gizmos.example.com", "{}")
	terminating := s.get(t, definitionsPath+"/gizmos.example.com").body
	for _, want := range []string{"InstanceDeletionInProgress", "customresourcecleanup.apiextensions.k8s.io"} {
		if !strings.Contains(terminating, want) {
			t.Errorf("a definition whose objects are held lacks %q: %s", want, terminating)
		}
	}
	s.send(t, "PATCH", gizmosPath+"/last", `[{"op":"remove","path":"/metadata/finalizers"}]`)
	s.gone(t, definitionsPath+"/gizmos.example.com")
	// The collector may have met a reference to what is not defined any more five times.
	unresolved := regexp.MustCompile(`garbagecollector fails, .*: no matches for kind "Gizmo" .*\n`)
	if code, stderr := s.stop(); code != 0 || unresolved.ReplaceAllString(stderr, "") != "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
