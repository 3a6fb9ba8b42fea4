package serverdiff

import (
	"bytes"
	"crypto/tls"
	"flag"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

const recorded = "../../fakeapi/testdata/vectors"

var area = flag.String("area", "", "record this folder of fakeapi/testdata/vectors again")

// TestRecord records the cases of an area again, from another server.
func TestRecord(t *testing.T) {
	if *server == "" || *area == "" {
		t.Skip("there is nothing to record: make record AREA=ownerrefs SERVER=https://...")
	}
	at, err := url.Parse(*server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: *insecure}},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			if *token != "" {
				r.Out.Header.Set("Authorization", "Bearer "+*token)
			}
		},
	}
	if err := rerecord(filepath.Join(recorded, *area), proxy, func(what string) { t.Log(what) }); err != nil {
		t.Fatal(err)
	}
}

// A case that is recorded again from a server with the same answers does not change. Wrong answers are corrected.
func TestRecordAgain(t *testing.T) {
	crdDelay = 0
	for _, name := range []string{"concurrency/already-exists", "finalizers/name-kubernetes", "finalizers/delete-held",
		"crd/generation-status-true"} {
		raw, err := os.ReadFile(filepath.Join(recorded, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		wrong := bytes.ReplaceAll(raw, []byte(`"reason": "`), []byte(`"reason": "Not`))
		for _, was := range [][]byte{raw, wrong} {
			h, told := httpapi.New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now), 0
			got, err := recordAgain(was, h, "record-again", func(string) { told++ })
			if err != nil || !bytes.Equal(got, raw) || (told == 0) != bytes.Equal(was, raw) {
				t.Errorf("%s: %v, %d differences:\n%s", name, err, told, got)
			}
		}
	}
}
