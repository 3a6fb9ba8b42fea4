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
		Short: "list, add and remove the faults of a running server",
		Long: `Adds faults to a server of serve, one for each LINE. Without lines it lists the faults,
and how often each struck. A line is one of

` + indent(fault.Grammar) + `
WHO is the name of a program, the part of its user agent before the slash, or its user.
* stands for any characters. The server's own controllers get no faults.

hold     events of that kind wait, and bookmarks, until release; lists and reads are
         current. A watch that is held for longer than the server's history gets 410
relist   open watches of that kind end with 410 Expired; if none is open, the next one
fail     the nth such request from now gets the error, by default the first; nth=0 means
         every one. timeout: it is executed, and answered 504. lost: it is executed, and
         the connection is closed without an answer. All others are not executed
delay    the request waits before it is executed

VERB is a verb of the API, or watch, or write for all writes. KIND is * for any kind.
Without a namespace it means any. client-go retries by itself after 429 and 503.`,
		Example: `  threelaws faults --server http://127.0.0.1:8080 'hold my-operator sees=Pod'
  threelaws faults --server http://127.0.0.1:8080
  curl -d 'fail my-operator create pod with=lost' http://127.0.0.1:8080/threelaws/faults`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.server, "server", "", "the URL of the server")
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
