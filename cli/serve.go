package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/realtime"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// serving is what serve was told to do.
type serving struct {
	listen      string
	kubeconfig  string
	controllers []string
	load, dump  string
	realtime    bool
	anywhere    bool
}

func (a *app) serveCommand() *cobra.Command {
	var o serving
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "serve the API, and run controllers, on a loopback port",
		Long: `Serves the API server on a port, for kubectl, curl and any other client, and runs
controllers of the table against it. Ctrl-C, or SIGTERM, ends it.

There is no authentication: whoever reaches the port may do everything. It
therefore listens on loopback addresses only, unless told otherwise.`,
		Example: `  threelaws serve --kubeconfig three.kubeconfig --controllers all
  KUBECONFIG=three.kubeconfig kubectl get all -A
  threelaws serve --load world.yaml --dump world.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("serve takes no arguments, only flags: %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "the address; port 0 is any free one")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "write a kubeconfig to this file")
	f.StringSliceVar(&o.controllers, "controllers", nil, "controllers to run, NAME[@GENERATION],...; all for each in its newest generation")
	f.StringVar(&o.load, "load", "", "begin with the objects of this YAML file")
	f.StringVar(&o.dump, "dump", "", "write all objects to this file at the end")
	f.BoolVar(&o.realtime, "realtime", true, "timers of controllers wait as long as they say; false: only until nothing else can happen")
	f.BoolVar(&o.anywhere, "unauthenticated-anywhere", false, "listen on any address, without authentication")
	return cmd
}

// site is a server with its controllers.
type site struct {
	trial   *trial.Trial // nil without controllers
	handler *httpapi.Handler
	runner  *realtime.Runner // nil without controllers
}

// serve runs until the context is over or the port fails.
func (a *app) serve(ctx context.Context, o *serving) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	s, err := a.openSite(o)
	if err != nil {
		return err
	}
	listener, err := o.open()
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	if o.kubeconfig != "" {
		if err := writeWhole(o.kubeconfig, []byte(kubeconfig(url))); err != nil {
			listener.Close()
			return usage("--kubeconfig: %v", err)
		}
	}
	if err := a.announce(url, o.kubeconfig); err != nil {
		listener.Close()
		return err
	}
	err = s.run(ctx, listener, o.anywhere)
	if o.dump != "" {
		err = errors.Join(err, s.dump(o.dump))
	}
	return err
}

// announce says where the server is, once it can be reached.
func (a *app) announce(url, kubeconfig string) error {
	if a.json {
		return a.encode(struct {
			URL        string `json:"url"`
			Kubeconfig string `json:"kubeconfig,omitempty"`
		}{url, kubeconfig})
	}
	a.printf("serving on %s\n", url)
	if kubeconfig != "" {
		a.printf("kubeconfig: %s\n", kubeconfig)
	}
	return nil
}

// openSite makes the server, loads its objects and starts the controllers.
func (a *app) openSite(o *serving) (*site, error) {
	chosen, err := a.chooseControllers(o.controllers)
	if err != nil {
		return nil, err
	}
	server := fakeapi.New(fakeapi.Options{ManagedFields: true, Name: randomName})
	s := &site{}
	// The runner comes after the handler, as it runs under the handler's lock.
	s.handler = httpapi.New(server, func() time.Time {
		if s.runner != nil {
			return s.runner.Now()
		}
		return time.Now().UTC()
	})
	if o.load != "" {
		if err := s.load(o.load); err != nil {
			return nil, err
		}
	}
	if len(chosen) == 0 {
		return s, nil
	}
	s.trial = trial.New(trial.Options{Laws: a.registry.Laws, Server: server})
	s.trial.World.History.Forget = keptRecords
	s.trial.World.Observers = append(s.trial.World.Observers, &reporter{judge: s.trial.Judge, told: map[string]bool{}, tell: a.tell})
	s.runner = realtime.New(s.trial, func(f func()) { s.handler.With(func(*fakeapi.Server) { f() }) }, !o.realtime)
	s.handler.Execute = s.runner.Do
	for _, c := range chosen {
		if what := scenarios.Unserved(server, c); what != "" {
			return nil, usage("--controllers: %s: --load a file that holds it", strings.TrimSuffix(what, ": apply its definition before"))
		}
		s.trial.Start(c.Name, c)
	}
	return s, nil
}

// reporter tells of each law when it is first broken while a server runs.
type reporter struct {
	judge *law.Judge
	seen  int // breaches looked at
	told  map[string]bool
	tell  func(text string)
}

// Observe looks at the breaches that are new.
func (r *reporter) Observe(*sim.Record) {
	all := r.judge.Breaches()
	for ; r.seen < len(all); r.seen++ {
		b := &all[r.seen]
		if b.Strength == law.Informed && !r.told[b.Law.ID] {
			r.told[b.Law.ID] = true
			r.tell(fmt.Sprintf("VIOLATES %s: %s", b.Law.Name, render.WithoutUIDs(b.Text)))
		}
	}
}

// tell writes a line about a server that runs.
func (a *app) tell(text string) { fmt.Fprintln(a.err, text) }

// keptRecords is how much history a server that runs for ever keeps.
const keptRecords = 10_000

// chooseControllers finds the controllers by name.
func (a *app) chooseControllers(specs []string) ([]host.Controller, error) {
	if slices.Contains(specs, "all") {
		if len(specs) > 1 {
			return nil, usage("--controllers: all stands alone")
		}
		specs = nil
		for _, c := range a.registry.Controllers {
			if !slices.Contains(specs, c.Name) {
				specs = append(specs, c.Name)
			}
		}
	}
	var chosen []host.Controller
	for _, spec := range specs {
		c, what := a.registry.Controller(spec)
		if what != "" {
			return nil, usage("--controllers: %s", what)
		}
		if slices.ContainsFunc(chosen, func(d host.Controller) bool { return d.Name == c.Name }) {
			return nil, usage("--controllers: %s is named twice", c.Name)
		}
		chosen = append(chosen, c)
	}
	return chosen, nil
}

// open listens, on a loopback address unless told that anything goes.
func (o *serving) open() (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", o.listen)
	if err != nil {
		return nil, usage("--listen=%s: %v; an address is HOST:PORT, as 127.0.0.1:8080", o.listen, err)
	}
	if !o.anywhere && (addr.IP == nil || !addr.IP.IsLoopback()) {
		return nil, usage("--listen=%s: the server has no authentication and this is no loopback address; --unauthenticated-anywhere allows it all the same", o.listen)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, usage("--listen=%s: %v", o.listen, err)
	}
	return listener, nil
}

// run serves until the context is over, then ends what is under way.
func (s *site) run(ctx context.Context, listener net.Listener, anywhere bool) error {
	handler := http.Handler(s.handler)
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
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		server.Close() // a client that neither reads nor goes
	}
	running.Wait()
	if s.trial != nil {
		s.trial.Stop()
	}
	return err
}

// loopbackOnly refuses requests that were meant for another host: a browser
// that a name server has sent here.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Host
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		ip := net.ParseIP(strings.Trim(name, "[]"))
		if name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, fmt.Sprintf("this server answers for loopback addresses only, not for %q", name), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// load reads a file of objects.
func (s *site) load(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return missing(path, err)
	}
	err = s.handler.Load(text)
	var bad *httpapi.LoadError
	if errors.As(err, &bad) {
		return &scenarios.Error{File: path, Line: bad.Line, Text: bad.Err.Error(), Code: scenarios.ExitUsage}
	}
	return err
}
