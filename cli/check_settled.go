package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// settledBy returns a function that makes a test check a settled world. The test listens on a unix socket with the
// given path. A request contains the path of a socket on which the test can read the world. The response is 200, or
// another code with the text of an error.
func settledBy(test string) scenarios.Func {
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", test)
		}}}
	return func(user host.Client) error {
		socket, stop, err := readable(user, filepath.Dir(test))
		if err != nil {
			return err
		}
		defer stop()
		resp, err := client.Post("http://test/", "text/plain", strings.NewReader(socket))
		if err != nil {
			return fmt.Errorf("the test did not judge the world: %w", err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		switch {
		case err != nil:
			return err
		case resp.StatusCode != http.StatusOK:
			return errors.New(string(text))
		}
		return nil
	}
}

// readable serves a settled world on a unix socket in dir, until stop is called. It refuses writes and watches.
func readable(user host.Client, dir string) (socket string, stop func(), err error) {
	server := user.(interface{ Server() *fakeapi.Server }).Server()
	api := httpapi.New(server, time.Now)
	api.Execute = func(req *fakeapi.Request) fakeapi.Response {
		resp, _ := user.Do(context.Background(), req) // an error is also in the response
		return resp
	}
	f, err := os.CreateTemp(dir, "world")
	if err != nil {
		return "", nil, err
	}
	socket = f.Name()
	f.Close()
	os.Remove(socket)
	l, err := net.Listen("unix", socket)
	if err != nil {
		return "", nil, err
	}
	serving := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Query().Has("watch") {
			readOnly(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})}
	go func() { _ = serving.Serve(l) }() // stop makes Serve return an error
	return socket, func() {
		serving.Close()
		api.Close()
	}, nil
}

// readOnly refuses a request with 403 and a Status object, which Kubernetes clients understand.
func readOnly(w http.ResponseWriter, r *http.Request) {
	status := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: "Settled only reads the cluster: " + r.Method + " " + r.URL.RequestURI() + " is refused"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(status) // an error means that the client no longer reads
}

// judgedByTest reports whether replaying a failure needs the test's Settled function.
func judgedByTest(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(text, []byte("ensure settled\n"))
}
