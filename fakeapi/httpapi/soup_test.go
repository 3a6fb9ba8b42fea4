package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
)

// FuzzWebhookAnswers has webhooks of each sort answer anything, with UID in the place of the
// review's own. Nothing panics or hangs, an answer has a status, and what is refused is not there.
func FuzzWebhookAnswers(f *testing.F) {
	const review = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":`
	const patch = `true,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEiLCJ2YWx1ZSI6eyJrIjoidiJ9fV0="}}`
	const converted = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"UID",` +
		`"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"example.com/v2","kind":"Lamp",` +
		`"metadata":{"name":"a","namespace":"default"},"spec":{"hue":"red"}}]}}`
	f.Add(uint8(0), uint16(200), []byte(review+patch))
	f.Add(uint8(1), uint16(200), []byte(review+`true,"warnings":["w"]}}`))
	f.Add(uint8(1), uint16(200), []byte(review+`false,"status":{"code":403,"message":"no"}}}`))
	f.Add(uint8(2), uint16(200), []byte(converted))
	f.Add(uint8(0), uint16(500), []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no"}`))
	var body atomic.Pointer[func(asked string) (int, []byte)]
	s := hook(f, func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Request struct{ UID string } }
		text, _ := io.ReadAll(r.Body)
		json.Unmarshal(text, &asked)
		code, answer := (*body.Load())(asked.Request.UID)
		w.WriteHeader(code)
		w.Write(answer)
	})
	client := `{"url":"` + s.URL + `","caBundle":` + bundle(s) + `}`
	f.Fuzz(func(t *testing.T, sort uint8, status uint16, answer []byte) {
		say := func(uid string) (int, []byte) {
			return 200 + int(status)%400, bytes.ReplaceAll(answer, []byte("UID"), []byte(uid))
		}
		body.Store(&say)
		h := New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now)
		h.CallWebhooks()
		defer h.Close()
		path, made := configMaps, `{"metadata":{"name":"a"}}`
		switch sort % 3 {
		case 0:
			must(t, h, "POST", mutating, configuration("h", client, ""))
		case 1:
			must(t, h, "POST", validating, configuration("h", client, ""))
		case 2:
			must(t, h, "POST", definitions, lamps(client))
			must(t, h, "POST", lampsV1, lamp("v1", "a", "colour", "blue"))
			path, made = lampsV2, lamp("v2", "b", "hue", "red")
			for _, method := range []string{"GET", "PATCH", "DELETE"} {
				if code, text := ask(h, method, path+"/a", `{"spec":{"hue":"red"}}`); code < 200 || text == "" {
					t.Errorf("%s: %d %s", method, code, text)
				}
			}

		}
		before := must(t, h, "GET", stored(path), "")
		code, text := ask(h, "POST", path, made)
		if code < 200 || code > 999 || !json.Valid([]byte(text)) {
			t.Errorf("POST: %d %s", code, text)
		}
		if after := must(t, h, "GET", stored(path), ""); code >= 300 && after != before {
			t.Errorf("refused with %d %s, and stored: %s", code, text, after)
		}
	})
}

// stored is the path at which objects are listed as they are stored.
func stored(path string) string {
	if path == lampsV2 {
		return lampsV1
	}
	return path
}
