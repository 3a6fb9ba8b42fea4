package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// listen serves a unix socket. The command threelaws sends a request to the socket whenever a cluster has settled. The
// request contains the path of a socket for reading the cluster. The response is 200, or 422 with the error of settled.
func listen(t *testing.T, settled func(*Process) error) (socket string, err error) {
	dir, err := os.MkdirTemp("", "agent") // t.TempDir contains the test's name, which may be too long for a socket
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "test")
	l, err := net.Listen("unix", socket)
	if err != nil {
		return "", err
	}
	var one sync.Mutex
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		world, err := io.ReadAll(r.Body)
		if err == nil {
			one.Lock()
			defer one.Unlock()
			err = judge(string(world), settled)
		}
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, err.Error()) // an error means that the command no longer reads
		}
	})}
	go func() { _ = server.Serve(l) }() // serves until the test ends
	t.Cleanup(func() { _ = server.Close() })
	return socket, nil
}

// judge calls settled for the cluster on a socket. It returns a panic as an error. The call runs in a new goroutine,
// because t.Fatal ends the goroutine that calls t.Fatal.
func judge(socket string, settled func(*Process) error) error {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	result := make(chan error)
	go func() {
		err := errors.New("Settled ended its goroutine: it must return an error instead of calling t.Fatal")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("Settled panicked: %v, at %s", v, panicked())
			}
			result <- err
		}()
		err = settled(&Process{Name: "test", Host: "http://apiserver", Transport: transport})
	}()
	return <-result
}

// panicked returns the file and line of a panic. It must be called while recovering.
func panicked() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for below := false; ; {
		f, more := frames.Next()
		if below && !strings.HasPrefix(f.Function, "runtime.") || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		below = below || f.Function == "runtime.gopanic"
	}
}
