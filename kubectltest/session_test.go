package kubectltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	kubectl "k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

var today = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// address is the address of the server. No socket listens there, because the transport calls the handler.
const address = "http://threelaws.invalid"

// session is one server, its controllers and the commands that run against it.
type session struct {
	t         testing.TB
	ctx       context.Context
	handler   *httpapi.Handler
	transport *transport
	manager   *manager
	cache     string            // directory of kubectl's discovery cache
	jobs      []*job            // in the background
	names     map[string]string // set by let
}

// newSession must be called inside a synctest bubble.
func newSession(t testing.TB) *session {
	time.Sleep(time.Until(today))
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{t: t, ctx: ctx, cache: t.TempDir(), names: map[string]string{}}
	s.handler = httpapi.New(fakeapi.New(fakeapi.Options{ManagedFields: true}), time.Now)
	s.transport = &transport{RoundTripper: s.handler.Transport()}
	s.manager = &manager{handler: s.handler}
	go s.manager.run(ctx)
	t.Cleanup(func() {
		cancel()
		synctest.Wait()
	})
	return s
}

type fatal struct {
	message string
	code    int
}

// kubectl runs one command. It writes stdout and stderr to out, and a last line "[exit N]" if the command fails.
func (s *session) kubectl(args []string, out *output) {
	server, empty := address, os.DevNull
	flags := newFlags(out)
	flags.APIServer, flags.KubeConfig, flags.CacheDir = &server, &empty, &s.cache
	flags.WithWrapConfigFn(func(c *rest.Config) *rest.Config {
		c.Transport, c.QPS = s.transport, -1
		return c
	})
	runKubectl(s.ctx, flags, args, out)
}

// newFlags returns the flags that select the server of a command.
func newFlags(out *output) *genericclioptions.ConfigFlags {
	const discoveryBurst = 300
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: out, ErrOut: out}
	return genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(discoveryBurst).WithDiscoveryQPS(
		-1).WithWarningPrinter(streams)
}

func runKubectl(ctx context.Context, flags *genericclioptions.ConfigFlags, args []string, out *output) {
	defer func() {
		if f, ok := recover().(fatal); ok {
			out.line(f.message)
			out.line(fmt.Sprintf("[exit %d]", f.code))
		}
	}()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: out, ErrOut: out}
	cmd := kubectl.NewKubectlCommand(
		kubectl.KubectlOptions{Arguments: append([]string{"kubectl"}, args...), ConfigFlags: flags, IOStreams: streams})
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(ctx); err != nil {
		out.line("error: " + err.Error())
		out.line("[exit 1]")
	}
}

// job is a command in the background.
type job struct {
	out  output
	done chan struct{}
}

func (s *session) start(args []string) {
	j := &job{done: make(chan struct{})}
	s.jobs = append(s.jobs, j)
	go func() {
		defer close(j.done)
		s.kubectl(args, &j.out)
	}()
	synctest.Wait()
}

// join waits for the oldest command in the background, at most five minutes.
func (s *session) join() (string, error) {
	if len(s.jobs) == 0 {
		return "", errors.New("no command runs in the background")
	}
	j := s.jobs[0]
	s.jobs = s.jobs[1:]
	select {
	case <-j.done:
		return j.out.String(), nil
	case <-time.After(5 * time.Minute):
		return j.out.String(),
			errors.New("the command in the background does not end; its output so far:\n" + j.out.String())
	}
}

type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// line writes a text and a newline if one is missing. It writes nothing for an empty text.
func (o *output) line(text string) {
	if text == "" {
		return
	}
	if text[len(text)-1] != '\n' {
		text += "\n"
	}
	io.WriteString(o, text)
}

// quiet turns kubectl's fatal errors into panics of type fatal. It discards the log, because errors are also returned.
func quiet() {
	cmdutil.BehaviorOnFatal(func(message string, code int) { panic(fatal{message, code}) })
	klog.SetLogger(logr.Discard())
	crlog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1] // the other handler sleeps by the real clock
}

// transport is the handler's own transport. It can also end all open watches, like a server that closes its
// connections. It records the requests that the server does not implement.
type transport struct {
	http.RoundTripper

	mu      sync.Mutex
	watches []*openWatch // open or ended
	refused []string
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" {
		resp, err := t.RoundTripper.RoundTrip(r)
		if err == nil {
			t.note(r, resp.StatusCode)
		}
		return resp, err
	}
	w := &openWatch{client: r.Context()}
	w.ctx, w.hangUp = context.WithCancel(r.Context())
	resp, err := t.RoundTripper.RoundTrip(r.WithContext(w.ctx))
	if err != nil {
		w.hangUp()
		return nil, err
	}
	w.ReadCloser, resp.Body = resp.Body, w
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watches = append(t.watches, w)
	return resp, nil
}

func (t *transport) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.watches {
		w.hangUp()
	}
	t.watches = nil
}

// note records a request that is answered with 501 or 500.
func (t *transport) note(r *http.Request, code int) {
	if code != http.StatusNotImplemented && code != http.StatusInternalServerError {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = append(t.refused, fmt.Sprintf("%s %s: %d", r.Method, r.URL.RequestURI(), code))
}

// openWatch is the body of a watch's response.
type openWatch struct {
	io.ReadCloser
	client, ctx context.Context
	hangUp      context.CancelFunc
}

// Read returns io.EOF if the server closed the watch.
func (w *openWatch) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && w.ctx.Err() != nil && w.client.Err() == nil {
		err = io.EOF
	}
	return n, err
}
