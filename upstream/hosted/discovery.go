package hosted

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/controller-manager/pkg/clientbuilder"
)

// clients gives each controller its clients. Their discovery decodes a document once: the garbage collector reads
// the same documents every 30 seconds of virtual time.
type clients struct {
	clientbuilder.SimpleControllerClientBuilder
}

func (c clients) DiscoveryClient(name string) (discovery.DiscoveryInterface, error) {
	d, err := c.SimpleControllerClientBuilder.DiscoveryClient(name)
	if err != nil {
		return nil, err
	}
	return decodesOnce{d}, nil
}

func (c clients) DiscoveryClientOrDie(name string) discovery.DiscoveryInterface {
	return decodesOnce{c.SimpleControllerClientBuilder.DiscoveryClientOrDie(name)}
}

// decodesOnce requests the documents of discovery each time and remembers what they decode to.
type decodesOnce struct{ discovery.DiscoveryInterface }

// decoded holds the preferred resources by the documents that list them. Callers do not change the lists.
var decoded sync.Map

func (d decodesOnce) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	documents := documents{}
	for _, path := range []string{"/api", "/apis"} {
		body, err := d.RESTClient().Get().AbsPath(path).SetHeader("Accept", discovery.AcceptV2).DoRaw(context.TODO())
		if err != nil {
			return d.DiscoveryInterface.ServerPreferredResources() // handles errors and older servers
		}
		documents[path] = string(body)
	}
	key := documents["/api"] + documents["/apis"]
	if lists, ok := decoded.Load(key); ok {
		return lists.([]*metav1.APIResourceList), nil
	}
	offline, err := discovery.NewDiscoveryClientForConfigAndClient(&rest.Config{}, &http.Client{Transport: documents})
	if err != nil {
		return nil, err
	}
	lists, err := offline.ServerPreferredResources()
	if err == nil {
		decoded.Store(key, lists)
	}
	return lists, err
}

// documents answers requests for discovery with documents that were read before, by path.
type documents map[string]string

func (d documents) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r,
		Header: http.Header{"Content-Type": {discovery.AcceptV2}},
		Body:   io.NopCloser(bytes.NewReader([]byte(d[r.URL.Path])))}, nil
}
