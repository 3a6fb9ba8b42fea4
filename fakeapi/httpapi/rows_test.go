package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
)

func told(h http.Handler, method, path, media, body string) (int, string, []string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String(), w.Header().Values("Warning")
}

const pair = `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"i","resources":
	{"requests":{"cpu":"1"}}},{"name":"b","image":"i"}]}}`

// Frequent mistakes, and requests of old and unusual clients, get the real server's response.
func TestAnswersOfTheFrontDoor(t *testing.T) {
	h := newHandler()
	must(t, h, "POST", "/api/v1/nodes", `{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z",
		"topology.kubernetes.io/region":"r","other":"o"}},"status":{"allocatable":{"cpu":"2"}}}`)
	must(t, h, "POST", "/api/v1/namespaces/default/pods", pair)
	const pods = "/api/v1/namespaces/default/pods"
	for _, c := range []struct {
		method, path, body string
		code               int
		text               string
	}{
		{"GET", "/api/v1/pods/x", "", 404, "could not find the requested resource"},
		{"PUT", "/apis/apps/v1/deployments/x", "{}", 404, "could not find the requested resource"},
		{"GET", "/api/v1/namespaces/default/nodes", "", 404, "could not find the requested resource"},
		{"POST", "/api/v1/pods", "{}", 405, "does not allow this method"},
		{"DELETE", "/api/v1/namespaces", "", 405, "does not allow this method"},
		{"GET", "/api/v1/namespaces/default?export=true", "", 400, "export parameter"},
		{"GET", "/apis/networking.k8s.io/v1/ingressclasses?fieldSelector=metadata.namespace!%3Dz", "", 200, ""},
		{"POST", "/api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"d","resourceVersion":"9"}}`,
			201, ""},
		{"POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"d","resourceVersion":"9"}}`, 500,
			"resourceVersion should not be set"},
		{"POST", "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",
			`{"spec":{"user":"x","resourceAttributes":{"namespace":"default","verb":"get"}}}`, 201, `"allowed":true`},
		{"POST", pods, `{"metadata":{"name":"m","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"containers":
			[{"name":"c","image":"i"}]}}`, 422, "must set spec.nodeName if mirror pod annotation is set"},
		{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"s"},"spec":{"type":"ExternalName",
			"externalName":"a.b","internalTrafficPolicy":"Cluster"}}`, 201, `"type":"ExternalName","sessionAffinity":"None","externalName":"a.b"}`},
		{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"far"},"spec":{"clusterIP":"1.2.3.4","ports":
			[{"port":80}]}}`, 422, "failed to allocate IP 1.2.3.4: the provided network does not match the current range"},
		{"POST", "/apis/networking.k8s.io/v1/servicecidrs", `{"metadata":{"name":"more"},"spec":{"cidrs":["1.2.3.0/24"]}}`,
			201, ""},
		{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"far"},"spec":{"clusterIP":"1.2.3.4","ports":
			[{"port":80}]}}`, 201, ""},
		{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"h"},"spec":{"clusterIP":"None","ports":
			[{"port":80}]}}`, 201, `"clusterIP":"None"`},
		{"PUT", "/api/v1/namespaces/default/services/h", `{"metadata":{"name":"h"},"spec":{"clusterIP":"None","ports":
			[{"port":80}],"type":"ExternalName","externalName":"a.b"}}`, 200, `"targetPort":80}],"type":"ExternalName","ses`},
		{"GET", pods + "/p", "", 200, `"labels":{"topology.kubernetes.io/region":"r","topology.kubernetes.io/zone":"z"}`},
		{"GET", pods + "/none/log", "", 404, `pods \"none\" not found`},
		{"GET", pods + "/p/log", "", 400, "a container name must be specified for pod p, choose one of: [a b]"},
		{"GET", pods + "/p/log?container=c", "", 400, "container c is not valid for pod p"},
		{"GET", pods + "/p/log?container=a&tailLines=-1", "", 422, "tailLines"},
		{"PUT", pods + "/p/resize", "", 400, ""},
		{"GET", "/readyz/none", "", 404, "404 page not found"},
		{"GET", "/livez/ping", "", 200, "ok"},
		{"POST", "/healthz", "", 200, "ok"},
		{"POST", "/version", "", 405, "does not allow this method"},
		{"GET", pods + "?fieldSelector=spec.host%3Dn", "", 200, `"name":"p"`},
		{"POST", "/apis/resource.k8s.io/v1/resourceslices", `{"metadata":{"name":"s"},"spec":{"driver":"d.io","nodeName":"n",
			"pool":{"name":"p","resourceSliceCount":1}}}`, 201, ""},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.driver%3Dd.io,spec.nodeName%3Dn", "", 200,
			`"name":"s"`},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.driver%3Dx", "", 200, `"items":[]`},
		{"GET", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=metadata.namespace%3Dx", "", 400,
			"field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: metadata.namespace"},
		{"GET", pods + "/p?limit=x&timeoutSeconds=x&watch=x", "", 200, ""},
		{"GET", pods + "?resourceVersion=x", "", 400,
			`invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint`},
		{"GET", pods + "?resourceVersion=x&continue=foo", "", 400, "invalid continue token: continue key is not valid"},
		{"GET", pods + "?limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi9jIn0", "", 400,
			"invalid continue token: continue key is not valid: ../c"},
		{"GET", pods + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9999", "", 200,
			`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 9999, current: `},
		{"DELETE", pods + "/p?dryRun=All",
			`{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":1}`, 200, ""},
		{"DELETE", pods + "?dryRun=All",
			`{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":1}`, 200, ""},
		{"POST", pods + "/p/eviction", `{"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"p"}}`, 201,
			`"Success"`},
	} {
		code, text, _ := told(h, c.method, c.path, "", c.body)
		if code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s %s: %d %s, want %d %q", c.method, c.path, code, text, c.code, c.text)
		}
	}
	if code, text, _ := told(h, "GET", pods+"/p/log?container=a", "", ""); code != 200 || text != "" {
		t.Errorf("the log: %d %q", code, text)
	}
}

// Discovery that has no acceptable form is refused with a Status in JSON.
func TestUnacceptableDiscovery(t *testing.T) {
	const form, media = "only the following media types are accepted", "406: Not Acceptable"
	for _, c := range [][3]string{{"/api", "text/html", media}, {"/apis", "text/html", form}, {"/apis/apps", "foo", form},
		{"/apis/apps/v1", "foo", media}, {"/api/v1", "application/json;as=Table;g=meta.k8s.io;v=v1", form}} {
		r := httptest.NewRequest("GET", c[0], nil)
		r.Header.Set("Accept", c[1])
		w := httptest.NewRecorder()
		newHandler().ServeHTTP(w, r)
		if w.Code != 406 || w.Header().Get("Content-Type") != "application/json" || !strings.Contains(w.Body.String(), c[2]) {
			t.Errorf("%s as %s: %d %s %s", c[0], c[1], w.Code, w.Header().Get("Content-Type"), w.Body)
		}
	}
}

// A Status that says when to retry has the header Retry-After.
func TestRetryAfter(t *testing.T) {
	w := httptest.NewRecorder()
	newHandler().ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/pods?resourceVersion=9999", nil))
	if w.Code != http.StatusGatewayTimeout || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
}

// A write drops the managed fields of versions that the kind does not have.
func TestManagersOfUnknownVersions(t *testing.T) {
	h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now)
	load(t, h, queueYAML)
	const entry = `{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"VERSION",
		"fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}}`
	must(t, h, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"},"data":{"a":"b"}}`)
	must(t, h, "POST", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers", `{"metadata":{"name":"a"},
		"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`)
	for path, versions := range map[string][]string{
		"/api/v1/namespaces/default/configmaps/c":                            {"v1", "v0", "apps/v1"},
		"/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/a": {"autoscaling/v1", "autoscaling/v2beta2"},
		"/apis/example.com/v1/namespaces/default/queues/q":                   {"example.com/v1", "example.com/v0", "other/v1"},
	} {
		for i, version := range versions {
			_, text, _ := told(h, "PATCH", path+"?dryRun=All", "application/merge-patch+json",
				strings.Replace(entry, "VERSION", version, 1))
			if kept := strings.Contains(text, `"manager":"m"`); kept != (i == 0) {
				t.Errorf("%s: the entry of %s is kept: %v\n%s", path, version, kept, text)
			}
		}
	}
}

// The subresource resize changes only the resources of a Pod, up to the resources of its node.
func TestResize(t *testing.T) {
	h := newHandler()
	must(t, h, "POST", "/api/v1/nodes", `{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"2"}}}`)
	must(t, h, "POST", "/api/v1/namespaces/default/pods", pair)
	resize := func(cpu string) (int, string) {
		code, text, _ := told(h, "PATCH", "/api/v1/namespaces/default/pods/p/resize", "application/merge-patch+json",
			`{"metadata":{"labels":{"l":"1"}},"spec":{"containers":[{"name":"a","image":"other","resources":{"requests":{"cpu":"`+
				cpu+`"}}},{"name":"b","image":"i"}]}}`)
		return code, text
	}
	code, text := resize("1500m")
	var pod struct {
		Metadata struct {
			Generation int64
			Labels     map[string]string
		}
		Spec struct {
			Containers []struct {
				Image     string
				Resources struct{ Requests map[string]string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &pod); err != nil || code != 200 {
		t.Fatalf("%d %s %v", code, text, err)
	}
	if c := pod.Spec.Containers[0]; c.Resources.Requests["cpu"] != "1500m" || c.Image != "i" ||
		pod.Metadata.Generation != 2 || len(pod.Metadata.Labels) > 0 {
		t.Errorf("resized: %s", text)
	}
	if code, text := resize("3"); code != 403 || !strings.Contains(text, "cpu, requested: 3000, allocatable: 2000") ||
		!strings.Contains(text, `"causes":[{"reason":"NodeCapacity"}]`) {
		t.Errorf("more than the node has: %d %s", code, text)
	}
	must(t, h, "POST", "/api/v1/namespaces/default/limitranges",
		`{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"500m"}}]}}`)
	if code, text := resize("1"); code != 422 || !strings.Contains(text, "less than or equal to cpu limit of 500m") {
		t.Errorf("more than the default limit of a LimitRange: %d %s", code, text)
	}
}

// A duplicate field in YAML causes one warning.
func TestYAMLWarnings(t *testing.T) {
	h := newHandler()
	code, text, warnings := told(h, "POST", "/api/v1/namespaces/default/configmaps", "application/yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: twice}
data:
  a: b
  a: c
`)
	if code != 201 || len(warnings) != 1 || !strings.Contains(warnings[0], `line 6: key \"a\" already set in map`) {
		t.Errorf("%d %s %q", code, text, warnings)
	}
}

// The times in managedFields that a client sends are kept.
func TestManagersKeepTheirTimes(t *testing.T) {
	h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now)
	must(t, h, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"},"data":{"a":"b"}}`)
	_, text, _ := told(h, "PATCH", "/api/v1/namespaces/default/configmaps/c", "application/merge-patch+json",
		`{"metadata":{"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","time":"2020-01-01T00:00:00Z",
		"fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]}}`)
	if !strings.Contains(text, `"manager":"m","operation":"Apply","apiVersion":"v1","time":"2020-01-01T00:00:00Z"`) {
		t.Errorf("%s", text)
	}
}

// If a CRD changes, the watches of its objects end. A new watch from the last revision fails, so the client must list.
func TestWatchEndsWithItsDefinition(t *testing.T) {
	h := newHandler()
	server := httptest.NewServer(h)
	defer server.Close()
	must(t, h, "POST", definitions, queueJSON(t))
	must(t, h, "POST", "/apis/example.com/v1/namespaces/default/queues",
		`{"apiVersion":"example.com/v1","kind":"Queue","metadata":{"name":"q"}}`)
	const watches = "/apis/example.com/v1/queues?watch=1&timeoutSeconds=60&resourceVersion="
	resp, err := http.Get(server.URL + watches)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if code, text, _ := told(h, "PATCH", definitions+"/queues.example.com", "application/merge-patch+json",
		`{"spec":{"names":{"shortNames":["qq"]}}}`); code != 200 {
		t.Fatal(code, text)
	}
	sent, err := io.ReadAll(resp.Body)
	if err != nil || strings.Count(string(sent), "\n") != 1 || !strings.Contains(string(sent), `"type":"ADDED"`) {
		t.Errorf("sent: %s %v", sent, err)
	}
	_, text, _ := told(h, "GET", watches+"3", "", "")
	if !strings.Contains(text, `"reason":"Expired"`) {
		t.Errorf("opened again: %s", text)
	}
}

func queueJSON(t *testing.T) string {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(queueYAML))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// exchange is a request and a part of the response, according to the code of k8s.io/kubernetes.
type exchange struct {
	method, path, body string
	code               int
	has                string
}

const (
	claimPath = "/api/v1/namespaces/default/persistentvolumeclaims"
	podsPath  = "/api/v1/namespaces/default/pods"
	setsPath  = "/apis/apps/v1/namespaces/default/daemonsets"
	hooksPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	container = `"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]`
	daemons   = `"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
		`"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
)

var exchanges = map[string][]exchange{
	"a claim's phase is read, not stored: the first write is one": {
		{"POST", claimPath, `{"metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"],"resources":` +
			`{"requests":{"storage":"100u"}}}}`, 201, `"storage":"1m"`},
		{"PATCH", claimPath + "/a", `{}`, 200, `"resourceVersion":"5"`},
		{"PATCH", claimPath + "/a", `{}`, 200, `"resourceVersion":"5"`},
	},
	"a volume's disk is completed": {
		{"POST", podsPath, `{"metadata":{"name":"a"},` + container + `,"volumes":[{"name":"v","azureDisk":` +
			`{"diskName":"d","diskURI":"https://x/y"}}]}}`, 201,
			`"azureDisk":{"diskName":"d","diskURI":"https://x/y","cachingMode":"ReadWrite","fsType":"ext4",` +
				`"readOnly":false,"kind":"Shared"}`},
	},
	"a container that has ended stays ended": {
		{"POST", podsPath, `{"metadata":{"name":"a"},` + container + `}}`, 201, ``},
		{"PATCH", podsPath + "/a/status", `{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"",` +
			`"ready":false,"restartCount":0,"state":{"terminated":{"exitCode":1}}}]}}`, 200, ``},
		{"PATCH", podsPath + "/a/status", `{"status":{"containerStatuses":[{"name":"c","image":"i","imageID":"",` +
			`"ready":true,"restartCount":1,"state":{"running":{}}}]}}`, 422,
			`status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state`},
	},
	"a generation that is no number": {
		{"POST", setsPath, `{"metadata":{"name":"a","annotations":{"deprecated.daemonset.template.generation":"b"}},` +
			daemons, 400, `DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strconv.ParseInt: parsing \"b\"`},
		{"POST", setsPath, `{"metadata":{"name":"a"},` + daemons, 201, ``},
		{"PATCH", setsPath + "/a", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"b"}}}`, 422,
			`strconv.ParseInt: parsing \"b\": invalid syntax`},
	},
	"webhooks that are none are not counted as a change, those that are empty are": {
		{"POST", hooksPath, `{"metadata":{"name":"a"},"webhooks":[]}`, 201, `"generation":1`},
		{"PATCH", hooksPath + "/a", `{"metadata":{"labels":{"a":"b"}}}`, 200, `"generation":1`},
		{"PATCH", hooksPath + "/a", `{"webhooks":[]}`, 200, `"generation":2`},
	},
	"a volume's nodes are for ever": {
		{"POST", "/api/v1/persistentvolumes", `{"metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},` +
			`"accessModes":["ReadWriteOnce"],"local":{"path":"/x"},"nodeAffinity":{"required":{"nodeSelectorTerms":` +
			`[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}}`, 201, ``},
		{"PATCH", "/api/v1/persistentvolumes/a", `{"spec":{"nodeAffinity":null}}`, 422,
			`nodeAffinity: Invalid value: null: field is immutable`},
	},
	"a limit range without a name is given one": {
		{"POST", "/api/v1/namespaces/default/limitranges", `{"spec":{"limits":[]}}`, 201, `"name":"`},
		{"POST", "/api/v1/namespaces/default/limitranges", `{"spec":{"limits":[]}}`, 201, `"name":"`},
	},
	"what is said of one label is said in order": {
		{"POST", podsPath, `{"metadata":{"name":"a","labels":{"a":"` + strings.Repeat("!", 64) + `"}},` + container +
			`}}`, 422, `must be no more than 63 bytes, metadata.labels: Invalid value: \"!!!!`},
	},
	"a driver without a name is said to have none, and no more": {
		{"POST", "/api/v1/persistentvolumes", `{"metadata":{"name":"a"},"spec":{"capacity":{"storage":"1Gi"},` +
			`"accessModes":["ReadWriteOnce"],"csi":{"driver":"","volumeHandle":"h"}}}`, 422,
			`\"a\" is invalid: spec.csi.driver: Required value"`},
	},
	"a status brings no warnings of the spec": {
		{"POST", "/api/v1/nodes", `{"metadata":{"name":"a"},"spec":{"externalID":"x"}}`, 201, `Warning: 299`},
		{"PATCH", "/api/v1/nodes/a/status", `{"status":{"phase":"Running"}}`, 200, `no warning`},
	},
}

func TestWhatIsStoredIsWhatKubernetesStores(t *testing.T) {
	for name, steps := range exchanges {
		t.Run(name, func(t *testing.T) {
			h := New(fakeapi.New(fakeapi.Options{}), func() time.Time {
				return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			})
			for _, e := range steps {
				code, text := warned(h, e.method, e.path, e.body)
				if code != e.code || !strings.Contains(text, e.has) {
					t.Errorf("%s %s %s: %d %s, want %d %s", e.method, e.path, e.body, code, text, e.code, e.has)
				}
			}
		})
	}
}

func warned(h *Handler, method, path, body string) (int, string) {
	header := map[string]string{"content-type": "application/json"}
	if method == "PATCH" {
		header["content-type"] = "application/merge-patch+json"
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(method, path, "", header, body))
	warning := "no warning "
	if all := w.Header().Values("Warning"); len(all) > 0 {
		warning = "Warning: " + all[0]
	}
	return w.Code, warning + w.Body.String()
}
