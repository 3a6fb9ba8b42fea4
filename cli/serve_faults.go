package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/fault"
	"github.com/threelaws/threelaws/internal/live"
	"github.com/threelaws/threelaws/scenarios"
)

// faultsPath is where a server is asked for faults. No kind is served below it: those are below
// /api and /apis.
const faultsPath = "/threelaws/faults"

// mostAsked is how many bytes may be asked at once.
const mostAsked = 64 << 10

// ask asks for the faults of the command line, and of the file.
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

// linesOf are the lines of a text, but for empty ones and comments, with their numbers.
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

// askLines asks for all of the lines, or, where one is wrong, for none: that one has the index wrong.
func askLines(h *httpapi.Handler, lines ...string) (done []fault.Shown, wrong int, err error) {
	h.With(func(s *fakeapi.Server) { done, wrong, err = h.Faults.Ask(s, lines...) })
	return done, wrong, err
}

// faultsOnly answers what is about a server's faults, and leaves all else to next. It answers
// programs of this machine, and no page of another origin that a browser shows: a browser says
// where a request comes from that is more than a link.
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

// foreign says why a request may not change what goes wrong, "" where it may.
func foreign(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return "faults are asked for from this machine only"
	}
	return live.Stranger(r)
}

// answerFaults does what is asked: GET lists, POST asks for lines, DELETE removes one, or all.
func answerFaults(h *httpapi.Handler, r *http.Request, id string) (code int, list []fault.Shown, err error) {
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
			err = fmt.Errorf("more than %d bytes are asked at once", mostAsked)
		}
		if err == nil {
			list, err = askAll(h, string(text))
		}
		return http.StatusBadRequest, list, err
	}
	return http.StatusMethodNotAllowed, nil, fmt.Errorf("%s is none of GET, POST and DELETE", r.Method)
}

// askAll asks for all lines of a text, or, where one is wrong, for none.
func askAll(h *httpapi.Handler, text string) ([]fault.Shown, error) {
	lines, at := linesOf(text)
	if len(lines) == 0 {
		return nil, fmt.Errorf("nothing is asked for; a line is one of\n%s", fault.Grammar)
	}
	done, wrong, err := askLines(h, lines...)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", at[wrong], err)
	}
	return done, nil
}

// fault tells of one that strikes.
func (t *teller) fault(line, what string) {
	t.say(serveLine{Event: "fault", Fault: line, Text: what}, "fault: "+what+" ("+line+")")
}

// unstruck tells of the faults that never struck, when all is over.
func (t *teller) unstruck(l *fault.List) {
	for _, f := range l.All() {
		if f.Struck == 0 {
			t.say(serveLine{Event: "unstruck", Fault: f.Line}, "fault never struck: "+f.Line)
		}
	}
}
