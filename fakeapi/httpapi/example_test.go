package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

// The server loads objects from YAML. An HTTP client sends a request over the transport.
func ExampleHandler_Transport() {
	noon := time.Date(2017, time.March, 1, 12, 0, 0, 0, time.UTC)
	h := httpapi.New(fakeapi.New(fakeapi.Options{}), func() time.Time { return noon })
	defer h.Close()
	if err := h.Load([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n")); err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: h.Transport()}
	req, _ := http.NewRequest(http.MethodGet, "http://fake/api/v1/namespaces/default/configmaps", nil)
	req.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, strings.Contains(string(body), `"kind":"Table"`))
	// Output:
	// 200 true
}
