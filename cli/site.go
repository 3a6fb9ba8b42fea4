package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"

	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/livepage"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/internal/wallclock"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

type serving struct {
	listen      string
	kubeconfig  string
	controllers []string
	load, dump  string
	history     uint64 // the minimal number of revisions to keep
	start       []string
	verbose     bool
	realtime    bool
	anywhere    bool
	tls         bool
	outside     bool     // other processes may run controllers, so a kind without a controller gets no warning
	plugins     []string // admission plugins to enable
	noPlugins   []string // admission plugins to disable
	ui          bool
	programs    []string                   // "NAME=CONTROLLER": a program, and the controller whose laws apply to it
	played      map[string]host.Controller // the parsed programs: program name -> controller
	fault       []string                   // faults from the command line
	faults      string                     // a file with faults
}

type site struct {
	trial   *trial.Trial // nil if there are no controllers, no --programs and no page
	handler *httpapi.Handler
	runner  *wallclock.Runner // nil if there is no trial
	feed    *livepage.Feed    // nil if there is no page
	broken  []render.Mark     // the violations on the page
}

func openSite(o *serving, chosen []host.Controller, laws []*law.Law, tell func(verdict)) (*site, error) {
	start, err := startOf(o.start, time.Now())
	if err != nil {
		return nil, err
	}
	off, err := withoutPlugins(o.plugins, o.noPlugins)
	if err != nil {
		return nil, err
	}
	server := fakeapi.New(fakeapi.Options{ManagedFields: true, Name: randomName, Start: start, WithoutPlugins: off})
	s := &site{}
	// The runner needs the lock of the handler, so the handler is created first.
	s.handler = httpapi.New(server, func() time.Time {
		if s.runner != nil {
			return s.runner.Now()
		}
		return time.Now().UTC()
	})
	s.handler.History = o.history
	s.handler.CallWebhooks()
	if o.load != "" {
		if err := s.load(o.load); err != nil {
			return nil, err
		}
	}
	if len(chosen) == 0 && len(o.played) == 0 && !o.ui {
		return s, nil
	}
	if o.ui {
		tell = s.noting(tell)
	}
	s.trial = trial.New(trial.Options{Laws: laws, Server: server})
	s.trial.Forget(int(o.history))
	for _, name := range slices.Sorted(maps.Keys(o.played)) {
		s.trial.Outside(name, o.played[name])
	}
	s.trial.World.Observers = append(s.trial.World.Observers, newReporter(s.trial.Judge, tell))
	s.runner = wallclock.New(s.trial, func(f func()) { s.handler.With(func(*fakeapi.Server) { f() }) }, !o.realtime)
	s.handler.Execute, s.handler.Fail = s.runner.Do, s.runner.Fail
	if o.ui {
		s.feed = s.page()
	}
	for _, c := range lifelike(s, chosen) {
		if what := scenarios.Unserved(server, c); what != "" {
			what = strings.TrimSuffix(what, ": apply its CRD first")
			return nil, usage("--controllers: %s: --load a file that holds it", what)
		}
		s.trial.Start(c.Name, c)
	}
	return s, nil
}

// keptHistory is the default of --history. Most watches that reconnect after a minute need fewer revisions.
const keptHistory = 10_000

func (s *site) run(ctx context.Context, listener net.Listener, anywhere bool) error {
	handler := http.Handler(s.handler)
	if s.feed != nil {
		handler = s.feed.Over(handler)
	}
	handler = faultsOnly(s.handler, handler)
	if !anywhere {
		handler = loopbackOnly(handler)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	if s.runner != nil {
		running.Go(func() { s.runner.Run(ctx) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop()
	s.handler.Close()
	if s.feed != nil {
		s.feed.Close()
	}
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		server.Close() // a client reads nothing and does not disconnect
	}
	running.Wait()
	if s.trial != nil {
		s.trial.Stop()
	}
	return err
}

// loopbackOnly refuses requests whose host name is not localhost or a loopback address. This prevents DNS rebinding.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		ip := net.ParseIP(strings.Trim(name, "[]"))
		if name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			why := fmt.Sprintf("this server answers for loopback addresses only, not for %q", name)
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *site) load(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return missing(path, err, nil)
	}
	err = s.handler.Load(text)
	var bad *httpapi.LoadError
	if errors.As(err, &bad) {
		return &scenarios.Error{File: path, Line: bad.Line, Text: bad.Err.Error(), Code: scenarios.ExitUsage}
	}
	return err
}

func (s *site) dump(path string) error {
	var b bytes.Buffer
	if err := s.handler.Dump(&b); err != nil {
		return err
	}
	if err := writeWhole(path, b.Bytes()); err != nil {
		return usage("--dump: %v", err)
	}
	return nil
}

// lifelike replaces a chosen kubelet by one that sets the status of pods like a real node. If there is no node,
// lifelike adds one. If no scheduler is chosen, the new kubelet also binds pods.
func lifelike(s *site, chosen []host.Controller) []host.Controller {
	at := slices.IndexFunc(chosen, func(c host.Controller) bool { return c.Name == "kubelet" && c.Era == "" })
	if at < 0 {
		return chosen
	}
	node := firstNode(s.trial.Server)
	if node == "" {
		node = s.join(kubelet.NewNode("node-1", time.Now().UTC()))
	}
	o := kubelet.Options{Lifelike: true, Bind: node}
	if slices.ContainsFunc(chosen, func(c host.Controller) bool { return c.Name == "scheduler" }) {
		o.Bind = ""
	}
	chosen = slices.Clone(chosen)
	chosen[at] = kubelet.New(o)
	return chosen
}

// join adds a node. It removes the taint not-ready, because no controller would remove it.
func (s *site) join(node *corev1.Node) string {
	s.handler.With(func(server *fakeapi.Server) {
		req := fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindOf(node), Name: node.Name, Object: node,
			UserAgent: "kubelet"}
		tainted, ok := s.runner.Do(&req).Object.(*corev1.Node)
		if !ok {
			return
		}
		node = tainted.DeepCopy()
		node.Spec.Taints = nil
		s.runner.Do(&fakeapi.Request{Verb: fakeapi.Update, Kind: req.Kind, Name: node.Name, Object: node,
			UserAgent: "kubelet"})
	})
	return node.Name
}

func firstNode(s *fakeapi.Server) (name string) {
	s.Each(s.KindNamed("node"), func(obj runtime.Object) bool {
		name = obj.(*corev1.Node).Name
		return false
	})
	return name
}

func (s *site) page() *livepage.Feed {
	look := func(see func(livepage.World)) {
		s.handler.With(func(*fakeapi.Server) {
			see(livepage.World{History: &s.trial.World.History, Broken: s.broken,
				Standing: s.trial.Standing})
		})
	}
	return livepage.New(look, s.trial.World.Clock.Elapsed(), strconv.FormatInt(time.Now().UnixNano(), 36))
}

// noting returns a function that passes a violation to tell and adds it to the page. The caller holds the server lock.
func (s *site) noting(tell func(verdict)) func(verdict) {
	return func(v verdict) {
		s.broken = append(s.broken, render.MarkOf(*v.violation))
		tell(v)
	}
}

// overTLS adds TLS with a new self-signed certificate. It returns the certificate in PEM.
func overTLS(plain net.Listener) (net.Listener, []byte, error) {
	ip := plain.Addr().(*net.TCPAddr).IP
	bundle, key, err := cert.GenerateSelfSignedCertKey(ip.String(), []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		[]string{"localhost"})
	if err != nil {
		return nil, nil, err
	}
	pair, err := tls.X509KeyPair(bundle, key)
	if err != nil {
		return nil, nil, err
	}
	return tls.NewListener(plain, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}}), bundle, nil
}

// kubeconfig returns a kubeconfig for the server. Without a certificate it sets insecure-skip-tls-verify, because some
// clients refuse plain HTTP otherwise.
func kubeconfig(url string, trusted []byte) string {
	trust := "insecure-skip-tls-verify: true"
	if trusted != nil {
		trust = "certificate-authority-data: " + base64.StdEncoding.EncodeToString(trusted)
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: threelaws
  cluster:
    server: %s
    %s
contexts:
- name: threelaws
  context:
    cluster: threelaws
    user: threelaws
current-context: threelaws
users:
- name: threelaws
  user: {}
`, url, trust)
}

// nameLetters contains the characters of generated names on a real server. Without vowels, names are not words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

func randomName(prefix string, _ int) string {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = nameLetters[rand.IntN(len(nameLetters))]
	}
	return prefix + string(suffix)
}
