package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

var asJSON = map[string]string{"content-type": "application/json"}

// Every access review has the answer yes.
func TestEverythingIsAllowed(t *testing.T) {
	const authz, attributes = "/apis/authorization.k8s.io/v1", `"resourceAttributes":{"verb":"get","resource":"pods"`
	for _, c := range []struct {
		path, body string
		code       int
		want       string
	}{
		{authz + "/selfsubjectaccessreviews", `{"spec":{` + attributes + `}}}`, 201, `"status":{"allowed":true}`},
		{authz + "/selfsubjectaccessreviews", `{"spec":{}}`, 422, "exactly one of nonResourceAttributes or"},
		{authz + "/subjectaccessreviews", `{"spec":{"user":"u",` + attributes + `}}}`, 201, `"allowed":true`},
		{authz + "/subjectaccessreviews", `{"spec":{` + attributes + `}}}`, 422, "at least one of user or group"},
		{authz + "/namespaces/default/localsubjectaccessreviews",
			`{"metadata":{"namespace":"default"},"spec":{"user":"u",` + attributes + `,"namespace":"default"}}}`, 201,
			`"allowed":true`},
		{authz + "/namespaces/default/localsubjectaccessreviews",
			`{"metadata":{"namespace":"default"},"spec":{"user":"u",` + attributes + `}}}`, 422, "must match metadata"},
		{authz + "/selfsubjectrulesreviews", `{"spec":{"namespace":"default"}}`, 201,
			`"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]`},
		{authz + "/selfsubjectrulesreviews", `{"spec":{}}`, 400, "no namespace on request"},
		{"/apis/authentication.k8s.io/v1/selfsubjectreviews", `{}`, 201, `"username":"admin"`},
		{"/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{}}`, 400, "token is required"},
		{"/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"x"}}`, 201, "invalid bearer token"},
		{"/apis/authentication.k8s.io/v1/tokenreviews/x", `{}`, 405, "does not allow this method"},
	} {
		h := newHandler()
		before := revisionOf(h)
		code, body := send(h, http.MethodPost, c.path, "", asJSON, c.body)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", c.path, c.body, code, body, c.code, c.want)
		}
		if revisionOf(h) != before {
			t.Errorf("%s changed the store", c.path)
		}
	}
}

func TestTokenNamesItsAccount(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := New(fakeapi.New(fakeapi.Options{}), func() time.Time { return now })
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	robot := func() string {
		t.Helper()
		if code, body := send(h, http.MethodPost, accounts, "", asJSON, `{"metadata":{"name":"robot"}}`); code != 201 {
			t.Fatal(body)
		}
		var made authenticationv1.TokenRequest
		code, body := send(h, http.MethodPost, accounts+"/robot/token", "", asJSON, `{"spec":{}}`)
		if err := json.Unmarshal([]byte(body), &made); code != 201 || err != nil || made.Status.Token == "" {
			t.Fatal(code, body, err)
		}
		return made.Status.Token
	}
	whoami := func(headers ...string) (int, string) {
		with := map[string]string{"content-type": "application/json"}
		for i := 0; i < len(headers); i += 2 {
			with[headers[i]] = headers[i+1]
		}
		return send(h, http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "", with, `{}`)
	}
	const account = `"username":"system:serviceaccount:default:robot"`
	token := robot()
	if code, body := whoami("authorization", "Bearer "+token); code != 201 || !strings.Contains(body, account) ||
		!strings.Contains(body, `"system:serviceaccounts:default"`) {
		t.Errorf("%d %s", code, body)
	}
	if _, body := whoami("authorization", "Bearer "+token, "impersonate-user", "eve"); !strings.Contains(body, "eve") {
		t.Errorf("the impersonated eve is %s", body)
	}
	code, body := send(h, http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", "", asJSON,
		`{"spec":{"token":"`+token+`"}}`)
	if code != 201 || !strings.Contains(body, `"authenticated":true`) || !strings.Contains(body, account) {
		t.Errorf("the review of the token: %d %s", code, body)
	}
	if _, body := whoami("authorization", "Bearer of news"); !strings.Contains(body, `"username":"admin"`) {
		t.Errorf("the user with another server's token is %s", body)
	}
	if _, body := whoami("authorization", "Bearer "+token[:len(token)-2]); !strings.Contains(body, "admin") {
		t.Errorf("the user with half a token is %s", body)
	}
	send(h, http.MethodDelete, accounts+"/robot", "", nil, "")
	if code, _ := whoami("authorization", "Bearer "+token); code != http.StatusUnauthorized {
		t.Errorf("a token of a deleted account: %d", code)
	}
	token = robot()
	now = now.Add(2 * time.Hour)
	if code, _ := whoami("authorization", "Bearer "+token); code != http.StatusUnauthorized {
		t.Errorf("an expired token: %d", code)
	}
	if code, body := send(h, http.MethodPost, accounts+"/robot/token", "", asJSON,
		`{"spec":{"expirationSeconds":60}}`); code != 422 || !strings.Contains(body, "less than 10 minutes") {
		t.Errorf("%d %s", code, body)
	}
	if code, _ := send(h, http.MethodPost, accounts+"/nobody/token", "", asJSON, `{"spec":{}}`); code != 404 {
		t.Errorf("a token without an account: %d", code)
	}
}

func TestTokenIsBound(t *testing.T) {
	h := newHandler()
	const space = "/api/v1/namespaces/default/"
	for kind, name := range map[string]string{"serviceaccounts": "robot", "secrets": "s"} {
		code, body := send(h, http.MethodPost, space+kind, "", asJSON, `{"metadata":{"name":"`+name+`"}}`)
		if code != 201 {
			t.Fatal(body)
		}
	}
	send(h, http.MethodPost, space+"pods", "", asJSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",`+
		`"image":"i"}]}}`)
	ask := func(ref string) (int, string) {
		return send(h, http.MethodPost, space+"serviceaccounts/robot/token", "", asJSON,
			`{"spec":{"boundObjectRef":{`+ref+`}}}`)
	}
	for ref, want := range map[string]string{
		`"kind":"Pod","apiVersion":"v1","name":"none"`:              `404 pods \"none\" not found`,
		`"kind":"Pod","apiVersion":"v1","name":"p"`:                 `400 cannot bind token for serviceaccount`,
		`"kind":"Lease","apiVersion":"v1","name":"p"`:               `400 cannot bind token to object of type`,
		`"kind":"Secret","apiVersion":"v1","name":"s","uid":"else"`: `409 does not match the UID in record`,
	} {
		status, text, _ := strings.Cut(want, " ")
		if code, body := ask(ref); strconv.Itoa(code) != status || !strings.Contains(body, text) {
			t.Errorf("a token for %s: %d %s, want %s", ref, code, body, want)
		}
	}
	code, body := ask(`"kind":"Secret","apiVersion":"v1","name":"s"`)
	var made authenticationv1.TokenRequest
	if err := json.Unmarshal([]byte(body), &made); code != 201 || err != nil {
		t.Fatal(code, body, err)
	}
	ours := map[string]string{"authorization": "Bearer " + made.Status.Token}
	if code, body := send(h, http.MethodGet, space+"secrets/s", "", ours, ""); code != 200 {
		t.Errorf("a bound token: %d %s", code, body)
	}
	send(h, http.MethodDelete, space+"secrets/s", "", nil, "")
	if code, _ := send(h, http.MethodGet, space+"pods", "", ours, ""); code != http.StatusUnauthorized {
		t.Errorf("a token bound to a deleted secret: %d", code)
	}
}

// A create of a Binding at the path bindings has the same effect as a create at the Pod's subresource.
func TestBindingsAreBound(t *testing.T) {
	h := newHandler()
	send(h, http.MethodPost, "/api/v1/namespaces/default/pods", "", asJSON,
		`{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	code, body := send(h, http.MethodPost, "/api/v1/namespaces/default/bindings", "", asJSON,
		`{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`)
	if code != 201 {
		t.Fatal(code, body)
	}
	if _, body := send(h, http.MethodGet, "/api/v1/namespaces/default/pods/p", "", nil, ""); !strings.Contains(body,
		`"nodeName":"n"`) {
		t.Error(body)
	}
}
