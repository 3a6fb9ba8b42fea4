package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

// check is an object that the strategies of k8s.io/kubernetes refuse, with all errors: see
// testdata/checks/README.md.
type check struct {
	Verb        string // create, update or status
	Old, Object json.RawMessage
	Causes      []string
}

// The server refuses each object with the errors of upstream's strategies, in the same order.
func TestChecksAreUpstreams(t *testing.T) {
	files, err := filepath.Glob("testdata/checks/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no checks: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for n := 1; lines.Scan(); n++ {
				var c check
				if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
					t.Fatalf("%s:%d: %v", file, n, err)
				}
				if diff := cmp.Diff(c.Causes, c.causes(t)); diff != "" {
					t.Errorf("%s:%d: %s %s\n%s", file, n, c.Verb, c.Object, diff)
				}
			}
		})
	}
}

func (c *check) causes(t *testing.T) (all []string) {
	h := New(fakeapi.New(fakeapi.Options{}), func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) })
	header := map[string]string{"content-type": "application/json"}
	send(h, "POST", "/api/v1/namespaces", "", header,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns-1"}}`)
	var object struct {
		metav1.TypeMeta
		Metadata metav1.ObjectMeta
	}
	if err := json.Unmarshal(c.Object, &object); err != nil {
		t.Fatal(err)
	}
	path, body := checkPath(h, object.GroupVersionKind().String()), string(c.Object)
	method := http.MethodPost
	if c.Verb != "create" {
		code, text := send(h, method, path, "", header, string(c.Old))
		if code != http.StatusCreated {
			t.Fatalf("%s: %d %s", c.Old, code, text)
		}
		method, path = http.MethodPut, path+"/"+object.Metadata.Name
		if c.Verb == "status" {
			path += "/status"
		}
		body = based(t, body, text)
	}
	_, text := send(h, method, path, "", header, body)
	var status metav1.Status
	if err := json.Unmarshal([]byte(text), &status); err != nil || status.Details == nil {
		return []string{"not refused: " + text}
	}
	for _, cause := range status.Details.Causes {
		all = append(all, fmt.Sprintf("%s [%s] %s", cause.Field, cause.Type, cause.Message))
	}
	return all
}

// based copies the resourceVersion of the stored object into a change.
func based(t *testing.T, change, stored string) string {
	var now map[string]any
	var was struct {
		Metadata struct {
			ResourceVersion string
			UID             types.UID
		}
	}
	for text, into := range map[string]any{change: &now, stored: &was} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	now["metadata"].(map[string]any)["resourceVersion"] = was.Metadata.ResourceVersion
	text, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkPath returns the path of a kind's objects, in ns-1 if they have a namespace.
func checkPath(h *Handler, kind string) (path string) {
	h.With(func(s *fakeapi.Server) {
		kinds := s.Kinds()
		k := kinds[slices.IndexFunc(kinds, func(k *fakeapi.Kind) bool { return k.GVK.String() == kind })]
		path = "/apis/" + k.GVK.Group + "/" + k.GVK.Version
		if k.GVK.Group == "" {
			path = "/api/" + k.GVK.Version
		}
		if k.Namespaced {
			path += "/namespaces/ns-1"
		}
		path += "/" + k.Resource
	})
	return path
}
