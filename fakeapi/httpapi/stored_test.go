package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
)

// A request and a part of its response, as the kind's strategy in k8s.io/kubernetes v1.36.3 makes it. upstream's
// differ_test.go compares many more.
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
