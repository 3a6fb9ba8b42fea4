package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/clientfault"
	"github.com/threelaws/threelaws/internal/livepage"
	"github.com/threelaws/threelaws/scenarios"
)

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
		Long: `Adds a fault to a server of serve for each LINE. Without lines it lists the faults, and
how often each was injected. A line is one of

` + indent(clientfault.Grammar) + `

WHO is the name of a program or its user. The name is the part of its user agent before
the slash. * stands for any characters. The server's own controllers get no faults.

hold     watch events and bookmarks of this kind wait until release. Lists and reads
         are current. A watch that is paused for longer than the server keeps history
         gets 410
relist   open watches of this kind end with 410 Expired. If no watch is open, the next
         watch ends
fail     the nth matching request from now gets the error. The default is 1, and nth=0
         means every request. The request is not executed. There are two exceptions:
         timeout executes the request and answers 504. lost executes the request and
         closes the connection without a response
delay    the request waits before it is executed

VERB is a verb of the API, or watch, or write for all writes. KIND is * for any kind.
Without a namespace, the line matches all namespaces. client-go retries by itself after
429 and 503.`,
		Example: `  threelaws faults --server http://127.0.0.1:8080 'hold my-operator sees=Pod'
  threelaws faults --server http://127.0.0.1:8080
  curl -d 'fail my-operator create pod with=lost' http://127.0.0.1:8080/threelaws/faults`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), a, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.server, "server", "", "the URL of the server")
	fl.IntVar(&f.remove, "remove", 0, "remove the fault with this number")
	fl.BoolVar(&f.clear, "clear", false, "remove all faults")
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
		return usage("faults: lines, --remove and --clear exclude each other")
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
	var list []clientfault.Shown
	if err := json.Unmarshal(text, &list); err != nil {
		return usage("--server=%s: this is not a server of threelaws serve: %v", f.server, err)
	}
	if a.json {
		return a.encode(list)
	}
	for _, s := range list {
		a.printf("%s\n", s)
	}
	return nil
}

// faultsPath is the URL path for faults. No path of the Kubernetes API begins with it.
const faultsPath = "/threelaws/faults"

// mostAsked is the maximal size in bytes of a request for faults.
const mostAsked = 64 << 10

func (o *serving) ask(h *httpapi.Handler) error {
	for _, line := range o.fault {
		if _, _, err := askLines(h, line); err != nil {
			return usage("--fault: %v", err)
		}
	}
	if o.faults == "" {
		return nil
	}
	text, err := os.ReadFile(o.faults)
	if err != nil {
		return missing(o.faults, err, nil)
	}
	lines, at := linesOf(string(text))
	if _, wrong, err := askLines(h, lines...); err != nil {
		return &scenarios.Error{File: o.faults, Line: at[wrong], Text: err.Error(), Code: scenarios.ExitUsage}
	}
	return nil
}

// linesOf returns the lines of a text and their line numbers. It leaves out empty lines and comments.
func linesOf(text string) (lines []string, at []int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines, at = append(lines, line), append(at, n)
		}
	}
	return lines, at
}

// askLines adds the faults in all lines. If a line is wrong, it adds no fault, and wrong is the index of the line.
func askLines(h *httpapi.Handler, lines ...string) (done []clientfault.Shown, wrong int, err error) {
	h.With(func(s *fakeapi.Server) { done, wrong, err = h.Faults.Apply(s, lines...) })
	return done, wrong, err
}

// faultsOnly returns a handler that serves faultsPath to programs on this machine. It passes other requests to next.
func faultsOnly(h *httpapi.Handler, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, ours := strings.CutPrefix(r.URL.Path, faultsPath)
		if !ours || rest != "" && rest[0] != '/' || h.Faults == nil {
			next.ServeHTTP(w, r)
			return
		}
		if why := foreign(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		code, list, err := answerFaults(h, r, strings.Trim(rest, "/"))
		switch {
		case err != nil:
			http.Error(w, err.Error(), code)
		case strings.Contains(r.Header.Get("Accept"), "application/json"):
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(list)
		default:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			for _, s := range list {
				fmt.Fprintln(w, s)
			}
		}
	})
}

// foreign returns why a request must not read or change faults, or "" if it may.
func foreign(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return "faults are set from this machine only"
	}
	return livepage.RefusalOf(r)
}

func answerFaults(h *httpapi.Handler, r *http.Request, id string) (code int, list []clientfault.Shown, err error) {
	n := 0
	if id != "" {
		if n, err = strconv.Atoi(id); err != nil || n < 1 || r.Method != http.MethodDelete {
			return http.StatusNotFound, nil, fmt.Errorf("there is no %s%s: DELETE %s/1 removes fault 1", faultsPath,
				"/"+id, faultsPath)
		}
	}
	switch r.Method {
	case http.MethodGet:
		return http.StatusOK, h.Faults.All(), nil
	case http.MethodDelete:
		list, err = h.Faults.Remove(n)
		return http.StatusNotFound, list, err
	case http.MethodPost:
		text, err := io.ReadAll(io.LimitReader(r.Body, mostAsked+1))
		if err == nil && len(text) > mostAsked {
			err = fmt.Errorf("more than %d bytes in one request", mostAsked)
		}
		if err == nil {
			list, err = askAll(h, string(text))
		}
		return http.StatusBadRequest, list, err
	}
	return http.StatusMethodNotAllowed, nil, fmt.Errorf("%s is not GET, POST or DELETE", r.Method)
}

func askAll(h *httpapi.Handler, text string) ([]clientfault.Shown, error) {
	lines, at := linesOf(text)
	if len(lines) == 0 {
		return nil, fmt.Errorf("no fault is given; a line is one of\n%s", clientfault.Grammar)
	}
	done, wrong, err := askLines(h, lines...)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", at[wrong], err)
	}
	return done, nil
}

func (t *teller) fault(line, what string) {
	t.say(serveLine{Event: "fault", Fault: line, Text: what}, "fault: "+what+" ("+line+")")
}

func (t *teller) unstruck(l *clientfault.List) {
	for _, f := range l.All() {
		if f.Struck == 0 {
			t.say(serveLine{Event: "unstruck", Fault: f.Line}, "fault never struck: "+f.Line)
		}
	}
}
