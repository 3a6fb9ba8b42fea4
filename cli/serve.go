package cli

import (
	"context"
	"errors"
	"maps"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/clientfault"
	"github.com/threelaws/threelaws/internal/livepage"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

func serveCommand(a *app) *cobra.Command {
	var o serving
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "serve the simulated API server, and run controllers, on a loopback port",
		Long: `Serves the simulated API server on a port, for kubectl, curl and any other client. It
also runs the controllers of --controllers. Ctrl-C or SIGTERM ends it.

There is no authentication, so every client may do everything. By default, serve listens
only on loopback addresses.

serve prints which controllers run, and which kinds no controller handles. If a client
creates an object of such a kind, it gets a warning, and serve prints a line to stderr.
Each violation is printed to stderr too, once for each controller and law. -v prints
each request. With --json all of this is printed as JSON lines on stdout.

With --ui, serve has a live page. It shows the writes, the owners of objects, the caches
of the controllers, and the violated laws (docs/use/page.md).

--programs NAME=CONTROLLER checks a program in another process like that controller.
For example, my-replicas=replicaset is for the user agent my-replicas/v1.0. serve checks
the writes of the program, by the laws of ownership and never-too-many. All clients with
one name count as one program, so give instances with leader election different names.

--fault, --faults FILE and the command faults add faults to requests and watches of
other programs. "threelaws help faults" describes the lines. serve runs in real time, so
it is not deterministic, and there is no replay. To repeat a failure, write a scenario.

serve calls the webhooks of webhook configurations and CRDs. A webhook has a URL, or a
Service with endpoints or an external name (docs/evidence/fidelity.md, Webhooks and
policies).

A new server has the objects of a new cluster: its namespaces, the Service kubernetes,
two PriorityClasses, and the service account default in each namespace.`,
		Example: `  threelaws serve --kubeconfig three.kubeconfig --controllers all
  KUBECONFIG=three.kubeconfig kubectl get all -A
  threelaws serve --ui --controllers all
  threelaws serve --load world.yaml --dump world.yaml
  threelaws serve --fault 'fail my-operator update deployment nth=1 with=lost'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), a, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "the address; port 0 means any free port")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "write a kubeconfig to this file")
	f.StringSliceVar(&o.controllers, "controllers", nil,
		"controllers to run, NAME[@ERA],...; * for those of the controller manager, all for every one, "+
			"-NAME for all but one")
	f.StringSliceVar(&o.programs, "programs", nil,
		"programs to judge as controllers, by their user agents, NAME=CONTROLLER,...")
	f.StringVar(&o.load, "load", "", "begin with the objects of this YAML file")
	f.StringVar(&o.dump, "dump", "", "write all objects to this file at the end")
	f.Uint64Var(&o.history, "history", keptHistory,
		"minimum number of revisions to keep; a watch or list that continues from an older one gets 410 Expired")
	f.StringArrayVar(&o.fault, "fault", nil,
		"a fault for other programs' requests, such as 'hold my-operator sees=Pod'; may be repeated")
	f.StringVar(&o.faults, "faults", "", "read faults from this file, one per line")
	f.StringSliceVar(&o.start, "start", startWords(), "initial objects of a server besides default and kube-system, or none")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "log each request: verb, path, user, client, status, duration")
	f.BoolVar(&o.realtime, "realtime", true,
		"timers of controllers wait in real time; false: they fire when nothing else can happen")
	f.BoolVar(&o.ui, "ui", false, "serve a live page for the browser on the same port")
	f.BoolVar(&o.anywhere, "unauthenticated-anywhere", false, "listen on any address, without authentication")
	f.BoolVar(&o.tls, "tls", false, "serve https, with a new certificate, which the kubeconfig contains")
	f.BoolVar(&o.outside, "external-controllers", false,
		"other controllers run, such as a kube-controller-manager: do not warn about kinds without a controller")
	f.StringSliceVar(&o.plugins, "enable-admission-plugins", nil,
		"admission plugins to enable, with kube-apiserver's names; all plugins of this server are on by default")
	f.StringSliceVar(&o.noPlugins, "disable-admission-plugins", nil, "admission plugins to disable")
	has, _ := fakeapi.Plugins()
	complete(cmd, "enable-admission-plugins", completeList(has))
	complete(cmd, "disable-admission-plugins", completeList(has))
	complete(cmd, "start", completeList(append(startWords(), "none")))
	complete(cmd, "controllers", completeList(append(controllerWords(a.registry), "all")))
	return cmd
}

func serve(ctx context.Context, a *app, o *serving) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	chosen, what := a.registry.Choose(o.controllers)
	if what != "" {
		return usage("--controllers: %s", what)
	}
	tell := &teller{a: a, told: map[string]bool{}}
	var err error
	if o.played, err = playedBy(a.registry, o.programs, chosen); err != nil {
		return err
	}
	s, err := openSite(o, chosen, a.registry.Laws, tell.verdict)
	if err != nil {
		return err
	}
	if s.trial != nil { // reports reconciles that keep failing
		s.trial.World.Observers = append(s.trial.World.Observers, &stuck{map[failing]int{}, tell.fails})
	}
	s.handler.Faults = &clientfault.List{Tell: tell.fault}
	if err := o.ask(s.handler); err != nil {
		return err
	}
	alone := unattended{}
	if !o.outside {
		alone = unattendedBy(a.registry, slices.AppendSeq(slices.Clone(chosen), maps.Values(o.played)))
	}
	s.handler.Created = func(req *fakeapi.Request, object metav1.Object) string {
		tell.unjudged(o.played, req, object)
		return tell.created(alone, req.Kind, object.GetNamespace(), object.GetName())
	}
	if o.verbose {
		s.handler.Log = tell.request
	}
	listener, err := o.open()
	if err != nil {
		return err
	}
	url, trusted := "http://"+listener.Addr().String(), []byte(nil)
	if o.tls {
		url = "https://" + listener.Addr().String()
		if listener, trusted, err = overTLS(listener); err != nil {
			return err
		}
	}
	if o.kubeconfig != "" {
		if err := replaceFile(o.kubeconfig, []byte(kubeconfig(url, trusted)), 0o600); err != nil {
			listener.Close()
			return usage("--kubeconfig: %v", err)
		}
	}
	banner := serveLine{URL: url, Kubeconfig: o.kubeconfig}
	if o.ui {
		banner.Page = url + livepage.Path
	}
	for _, c := range chosen {
		banner.Controllers = append(banner.Controllers, c.Name)
	}
	s.handler.With(func(server *fakeapi.Server) { banner.Unattended = alone.resources(server) })
	if err := announce(a, banner); err != nil {
		listener.Close()
		return err
	}
	err = s.run(ctx, listener, o.anywhere)
	tell.unstruck(s.handler.Faults)
	if o.dump != "" {
		err = errors.Join(err, s.dump(o.dump))
	}
	return err
}

// open listens on a loopback address, or with --unauthenticated-anywhere on any address.
func (o *serving) open() (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", o.listen)
	if err != nil {
		return nil, usage("--listen=%s: %v; an address is HOST:PORT, as 127.0.0.1:8080", o.listen, err)
	}
	if !o.anywhere && (addr.IP == nil || !addr.IP.IsLoopback()) {
		return nil, usage("--listen=%s: the server has no authentication, and this is not a loopback address; "+
			"--unauthenticated-anywhere allows it", o.listen)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, usage("--listen=%s: %v", o.listen, err)
	}
	return listener, nil
}

// withoutPlugins returns the admission plugins that are disabled.
func withoutPlugins(on, off []string) ([]string, error) {
	has, others := fakeapi.Plugins()
	known := slices.Concat(has, others)
	for _, name := range off {
		if !slices.Contains(known, name) {
			return nil, usage("--disable-admission-plugins: %s is unknown%s", name, suggest(name, known))
		}
	}
	for _, name := range on {
		switch {
		case !slices.Contains(known, name):
			return nil, usage("--enable-admission-plugins: %s is unknown%s", name, suggest(name, known))
		case slices.Contains(off, name):
			return nil, usage("--enable-admission-plugins: %s is in --disable-admission-plugins, too", name)
		case !slices.Contains(has, name):
			return nil, usage("--enable-admission-plugins: %s is not modelled; this server has the plugins %v", name, has)
		}
	}
	return off, nil
}

// playedBy parses --programs. It maps a program's name, as in its user agent, to the controller whose laws apply.
func playedBy(g *scenarios.Registry, words []string, runs []host.Controller) (map[string]host.Controller, error) {
	played := map[string]host.Controller{}
	for _, word := range words {
		name, controller, ok := strings.Cut(word, "=")
		if !ok || name == "" || strings.Contains(name, "/") {
			return nil, usage("--programs: %s is not NAME=CONTROLLER: a user agent up to its slash, and a "+
				"controller of the table", word)
		}
		if _, twice := played[name]; twice {
			return nil, usage("--programs: %s is named twice", name)
		}
		if name == law.User || name == law.Server {
			return nil, usage("--programs: %s is the server's name for %s: give the program another user agent", name,
				map[string]string{law.User: "clients without a user agent", law.Server: "itself"}[name])
		}
		if slices.ContainsFunc(runs, func(c host.Controller) bool { return c.Name == name }) {
			return nil, usage("--programs: %s is a controller that the server runs: give the program another user "+
				"agent, or leave it out of --controllers", name)
		}
		chosen, what := g.Choose([]string{controller})
		switch {
		case what != "":
			return nil, usage("--programs: %s", what)
		case len(chosen) != 1 || chosen[0].For.Empty():
			return nil, usage("--programs: %s is not a controller that reconciles a kind", controller)
		}
		played[name] = chosen[0]
	}
	return played, nil
}

// starts lists the values of --start. Each value adds some objects to a new server.
var starts = []struct {
	word string
	in   func(*fakeapi.Start)
}{
	{"namespaces", func(s *fakeapi.Start) { s.Namespaces = true }},
	{"service", func(s *fakeapi.Start) { s.Service = true }},
	{"priority-classes", func(s *fakeapi.Start) { s.PriorityClasses = true }},
	{"service-accounts", func(s *fakeapi.Start) { s.ServiceAccounts = true }},
}

func startWords() (words []string) {
	for _, s := range starts {
		words = append(words, s.word)
	}
	return words
}

func startOf(words []string, now time.Time) (fakeapi.Start, error) {
	start := fakeapi.Start{At: now.UTC().Truncate(time.Second)}
	if len(words) == 1 && words[0] == "none" {
		return start, nil
	}
	for _, word := range words {
		i := slices.Index(startWords(), word)
		if i < 0 {
			return start, usage("--start: %s is not one of %s, or none alone%s", word, strings.Join(startWords(), ", "),
				suggest(word, startWords()))
		}
		starts[i].in(&start)
	}
	return start, nil
}
