// Package outbound calls webhooks over HTTPS, with the real server's settings and error texts. It does not use the
// ClientManager of k8s.io/apiserver/pkg/util/webhook, because that needs gRPC and client-go's REST client.
package outbound

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

const (
	// mostClients is the maximum number of HTTP clients to keep. The next client replaces all of them.
	mostClients = 200
	// mostTime is the timeout of a webhook that sets none.
	mostTime = 30 * time.Second
	// mostBytes is the maximum size of an answer, in bytes.
	mostBytes = 16 << 20
	// mostShown is the maximum number of bytes of an answer that an error text contains.
	mostShown = 2048
)

// Client calls webhooks. It is safe for concurrent use.
type Client struct {
	ctx  context.Context
	via  func(*webhook.Endpoint) http.RoundTripper // returns the transport to a webhook; nil for the network
	mu   sync.Mutex
	kept map[string]*http.Client
}

// New returns a client. Its calls end when ctx ends.
func New(ctx context.Context) *Client { return &Client{ctx: ctx, kept: map[string]*http.Client{}} }

// Via returns a client that calls each webhook through its own transport, which transportTo returns.
func Via(transportTo func(*webhook.Endpoint) http.RoundTripper) *Client {
	return &Client{ctx: context.Background(), via: transportTo}
}

// Call posts a review to a webhook and decodes the answer.
func (c *Client) Call(to *webhook.Endpoint, review, response runtime.Object) error {
	client, err := c.client(to)
	if err != nil {
		return err
	}
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	timeout := cmp.Or(to.Timeout, mostTime)
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	url := to.URL + "?timeout=" + timeout.String()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", runtime.ContentTypeJSON)
	r.Header.Set("Accept", runtime.ContentTypeJSON+", */*")
	r.Header.Set("User-Agent", "kube-apiserver-admission")
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
	case len(text) > mostBytes:
		return fmt.Errorf("an answer of more than %d bytes", mostBytes)
	case resp.StatusCode < 200 || resp.StatusCode > 206:
		return failure(resp, text)
	}
	return decode(text, response)
}

// failure returns the error for a response with a code such as 500. If the body is a Status, it returns the Status.
func failure(resp *http.Response, text []byte) error {
	var s metav1.Status
	if json.Unmarshal(text, &s) == nil && isStatus(s.APIVersion, s.Kind) && s.Status == metav1.StatusFailure {
		return apierrors.FromObject(&s)
	}
	shown := "unknown"
	if kind := resp.Header.Get("Content-Type"); kind == "" || strings.HasPrefix(kind, "text/") {
		shown = strings.TrimSpace(string(text[:min(len(text), mostShown)]))
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, http.MethodPost, schema.GroupResource{}, "", shown, 0,
		true)
}

func isStatus(apiVersion, kind string) bool {
	return kind == "Status" && (apiVersion == "" || apiVersion == "v1")
}

// decode decodes an answer into response. It returns an error if the answer is a Status with a failure.
func decode(text []byte, response runtime.Object) error {
	var is struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return fmt.Errorf("couldn't get version/kind; json parse error: %v", err)
	}
	gv, err := schema.ParseGroupVersion(is.APIVersion)
	switch {
	case err != nil:
		return err
	case is.Kind == "":
		return runtime.NewMissingKindErr(string(text))
	case is.APIVersion == "":
		return runtime.NewMissingVersionErr(string(text))
	}
	if isStatus(is.APIVersion, is.Kind) {
		var s metav1.Status
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		if s.Status != metav1.StatusSuccess {
			return apierrors.FromObject(&s)
		}
	}
	if err := json.Unmarshal(text, response); err != nil {
		return err
	}
	response.GetObjectKind().SetGroupVersionKind(gv.WithKind(is.Kind))
	return nil
}

// client returns the HTTP client for an endpoint. It keeps the client for later calls, unless c.via is set.
func (c *Client) client(to *webhook.Endpoint) (*http.Client, error) {
	if c.via != nil {
		return &http.Client{Transport: c.via(to)}, nil
	}
	text, err := json.Marshal([]any{to.URL, to.Address, to.CABundle})
	if err != nil {
		return nil, err
	}
	key := string(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.kept[key]; client != nil && to.Unresolved == nil {
		return client, nil
	}
	client, err := newClient(to)
	if err != nil || to.Unresolved != nil {
		return client, err
	}
	if len(c.kept) >= mostClients {
		for _, old := range c.kept {
			old.CloseIdleConnections()
		}
		clear(c.kept)
	}
	c.kept[key] = client
	return client, nil
}

func newClient(to *webhook.Endpoint) (*http.Client, error) {
	u, err := url.Parse(to.URL)
	if err != nil {
		return nil, err
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(bytes.TrimSpace(to.CABundle)) > 0 {
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(to.CABundle) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	transport := &http.Transport{TLSClientConfig: settings, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second}
	if to.Service {
		settings.ServerName = u.Hostname()
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			if to.Unresolved != nil {
				return nil, to.Unresolved
			}
			return (&net.Dialer{Timeout: mostTime}).DialContext(ctx, network, to.Address)
		}
	}
	return &http.Client{Transport: transport}, nil
}
