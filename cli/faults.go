package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/fault"
)

// faulting is what faults was told to do.
type faulting struct {
	server string
	remove int
	clear  bool
}

func faultsCommand(a *app) *cobra.Command {
	f := &faulting{}
	cmd := &cobra.Command{
		Use:   "faults --server URL [flags] [LINE...]",
		Short: "what goes wrong in a server that runs: list it, ask for more, release",
		Long: `Asks a server that serve runs for faults, of which each line is one, or lists those that it
has, with how often each struck. A line is one of

` + indent(fault.Grammar) + `
WHO is the name of a program, which is what its user agent begins with, up to the slash, or
its user: * stands for any letters. Nothing goes wrong with what the server itself runs.

hold     events of that kind wait, bookmarks too, until release; what is read live is
         current. Who waits for more than the server's history is then told 410 Expired.
relist   the watches of that kind end with 410 Expired, or, where there are none, the next
fail     the nth such request, counted from here, is answered with the error, the first
         without nth, every one with nth=0. timeout: it is executed, and answered 504. lost:
         it is executed, and the connection closed without an answer. Else it is not executed
delay    it waits before it is executed

VERB is one of the API's, or watch, or write for all that change something. KIND is * for
every one. Without a namespace it is any. client-go asks again by itself after 429 and 503.`,
		Example: `  threelaws faults --server http://127.0.0.1:8080 'hold my-operator sees=Pod'
  threelaws faults --server http://127.0.0.1:8080
  curl -d 'fail my-operator create pod with=lost' http://127.0.0.1:8080/threelaws/faults`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.server, "server", "", "where the server is")
	fl.IntVar(&f.remove, "remove", 0, "remove the fault with this number")
	fl.BoolVar(&f.clear, "clear", false, "remove all")
	return cmd
}

func (f *faulting) run(ctx context.Context, a *app, lines []string) error {
	at, err := url.Parse(f.server)
	if err != nil || at.Scheme != "http" || at.Host == "" {
		return usage("faults: --server must be given, as serve prints it: --server http://127.0.0.1:8080")
	}
	method, path, body := http.MethodGet, faultsPath, ""
	switch {
	case (f.remove != 0 || f.clear) && len(lines) > 0 || f.remove != 0 && f.clear:
		return usage("faults: lines, --remove and --clear: it is one of them")
	case f.remove < 0:
		return usage("--remove=%d: faults are counted from 1", f.remove)
	case f.remove > 0:
		method, path = http.MethodDelete, fmt.Sprintf("%s/%d", faultsPath, f.remove)
	case f.clear:
		method = http.MethodDelete
	case len(lines) > 0:
		method, body = http.MethodPost, strings.Join(lines, "\n")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+at.Host+path, strings.NewReader(body))
	if err != nil {
		return usage("--server=%s: %v", f.server, err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return usage("--server=%s: %v", f.server, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return usage("--server=%s: %v", f.server, err)
	}
	if resp.StatusCode != http.StatusOK {
		return usage("faults: %s", strings.TrimSpace(string(text)))
	}
	var list []fault.Shown
	if err := json.Unmarshal(text, &list); err != nil {
		return usage("--server=%s: what answers is no server of serve: %v", f.server, err)
	}
	if a.json {
		return a.encode(list)
	}
	for _, s := range list {
		a.printf("%s\n", s)
	}
	return nil
}
