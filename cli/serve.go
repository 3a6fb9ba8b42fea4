package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

func serveCommand(a *app) *cobra.Command {
	var o serving
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "serve the API, and run controllers, on a loopback port",
		Long: `Serves the API server on a port, for kubectl, curl and any other client, and runs
controllers of the table against it. Ctrl-C, or SIGTERM, ends it.

There is no authentication: whoever reaches the port may do everything. It
therefore listens on loopback addresses only, unless told otherwise.

A law that the controllers break is told on standard error when it is first
broken. With --json that and where the server is are lines of JSON on standard
output.`,
		Example: `  threelaws serve --kubeconfig three.kubeconfig --controllers all
  KUBECONFIG=three.kubeconfig kubectl get all -A
  threelaws serve --load world.yaml --dump world.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), a, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "the address; port 0 is any free one")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "write a kubeconfig to this file")
	f.StringSliceVar(&o.controllers, "controllers", nil,
		"controllers to run, NAME[@GENERATION],...; * for those of the controller manager, all for every one, "+
			"-NAME for all but one")
	f.StringVar(&o.load, "load", "", "begin with the objects of this YAML file")
	f.StringVar(&o.dump, "dump", "", "write all objects to this file at the end")
	f.BoolVar(&o.realtime, "realtime", true,
		"timers of controllers wait as long as they say; false: only until nothing else can happen")
	f.BoolVar(&o.anywhere, "unauthenticated-anywhere", false, "listen on any address, without authentication")
	complete(cmd, "controllers", completeList(append(controllerWords(a.registry), "all")))
	return cmd
}

// serve runs until the context is over or the port fails.
func serve(ctx context.Context, a *app, o *serving) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	chosen, what := a.registry.Choose(o.controllers)
	if what != "" {
		return usage("--controllers: %s", what)
	}
	if a.strategies != nil {
		o.strategies = a.strategies()
	}
	s, err := openSite(o, chosen, a.registry.Laws, func(b *law.Breach) { verdict(a, b) })
	if err != nil {
		return err
	}
	s.handler.Inert = func(k *fakeapi.Kind, namespace, name string) { stored(a, k, namespace, name) }
	listener, err := o.open()
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String()
	if o.kubeconfig != "" {
		if err := replaceFile(o.kubeconfig, []byte(kubeconfig(url)), 0o600); err != nil {
			listener.Close()
			return usage("--kubeconfig: %v", err)
		}
	}
	if err := announce(a, url, o.kubeconfig); err != nil {
		listener.Close()
		return err
	}
	err = s.run(ctx, listener, o.anywhere)
	if o.dump != "" {
		err = errors.Join(err, s.dump(o.dump))
	}
	return err
}

// serveLine is one line of serve --json: where the server is, once it can be
// reached, and then each law when it is first broken.
type serveLine struct {
	Event      string `json:"event"` // serving, violates or stored
	URL        string `json:"url,omitempty"`
	Kubeconfig string `json:"kubeconfig,omitempty"`
	ID         string `json:"id,omitempty"` // of the law, by clause
	Law        string `json:"law,omitempty"`
	Text       string `json:"text,omitempty"`
}

// announce says where the server is.
func announce(a *app, url, kubeconfig string) error {
	if a.json {
		return a.line(serveLine{Event: "serving", URL: url, Kubeconfig: kubeconfig})
	}
	a.printf("serving on %s\n", url)
	if kubeconfig != "" {
		a.printf("kubeconfig: %s\n", kubeconfig)
	}
	return nil
}

// verdict tells of a law that is broken while the server runs.
func verdict(a *app, b *law.Breach) {
	text := render.WithoutUIDs(b.Text)
	if a.json {
		_ = a.line(serveLine{Event: "violates", ID: b.Law.ID, Law: b.Law.Name, Text: text})
		return
	}
	fmt.Fprintf(a.err, "VIOLATES %s: %s\n", b.Law.Name, text)
}

// stored tells of an object that was created and does not do here what it does in a
// cluster.
func stored(a *app, k *fakeapi.Kind, namespace, name string) {
	if namespace != "" {
		name = namespace + "/" + name
	}
	text := k.Singular + " " + name + " is stored: " + k.Inert()
	if a.json {
		_ = a.line(serveLine{Event: "stored", Text: text})
		return
	}
	fmt.Fprintln(a.err, text)
}

// open listens, on a loopback address unless told that anything goes.
func (o *serving) open() (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", o.listen)
	if err != nil {
		return nil, usage("--listen=%s: %v; an address is HOST:PORT, as 127.0.0.1:8080", o.listen, err)
	}
	if !o.anywhere && (addr.IP == nil || !addr.IP.IsLoopback()) {
		return nil, usage("--listen=%s: the server has no authentication and this is no loopback address; "+
			"--unauthenticated-anywhere allows it all the same", o.listen)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, usage("--listen=%s: %v", o.listen, err)
	}
	return listener, nil
}
