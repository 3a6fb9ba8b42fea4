package live

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/page"
)

// Path is the address of the page. No path of the API begins like this: resources begin with /api and /apis, and
// kube-apiserver has no other path of this name.
const Path = "/threelaws/"

// events is the address of the page's feed.
const events = Path + "events"

// mostReaders limits the pages that are fed concurrently.
const mostReaders = 16

// Over serves the page beside another handler.
func (f *Feed) Over(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path+"/" != Path && !strings.HasPrefix(r.URL.Path, Path) {
			api.ServeHTTP(w, r)
			return
		}
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch why := Stranger(r); {
		case why != "":
			http.Error(w, why, http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "the page is read, and nothing else", http.StatusMethodNotAllowed)
		case r.URL.Path == events:
			f.stream(w, r)
		case r.URL.Path == Path:
			header.Set("Content-Type", "text/html; charset=utf-8")
			header.Set("Content-Security-Policy", "frame-ancestors 'none'")
			_, _ = w.Write(page.LiveHTML("threelaws serve on "+r.Host, events))
		case r.URL.Path+"/" == Path:
			http.Redirect(w, r, Path, http.StatusMovedPermanently)
		default:
			http.Error(w, "the page is at "+Path, http.StatusNotFound)
		}
	})
}

// Stranger returns why a request must be refused; "" for a page of this server, an opened address, or a program. A
// browser also sends requests from pages of other origins. They carry an Origin, or a foreign hostname that resolves to
// this server.
func Stranger(r *http.Request) string {
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	if name != "localhost" && net.ParseIP(strings.Trim(name, "[]")) == nil {
		return fmt.Sprintf("this is asked for at an address, or at localhost, not at %q", name)
	}
	if from := r.Header.Get("Origin"); from != "" && from != "http://"+r.Host {
		return fmt.Sprintf("this is not for %q", from)
	}
	site := r.Header.Get("Sec-Fetch-Site")
	opens := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Path != events
	if site != "" && site != "same-origin" && site != "none" && !opens {
		return "this is not for pages of other origins"
	}
	return ""
}

// stream feeds one page until it is closed, or does not read.
func (f *Feed) stream(w http.ResponseWriter, r *http.Request) {
	if !f.enter() {
		http.Error(w, fmt.Sprintf("%d pages are fed, and no more", mostReaders), http.StatusServiceUnavailable)
		return
	}
	defer f.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	control := http.NewResponseController(w)
	at := f.placeOf(r.Header.Get("Last-Event-ID"))
	said := time.Now()
	tick := time.NewTicker(f.every)
	defer tick.Stop()
	send := func(text string) bool {
		said = time.Now()
		_ = control.SetWriteDeadline(said.Add(f.patience))
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	for ok := send("retry: 1000\n\n"); ok; {
		text, now, err := f.since(at)
		switch {
		case err != nil:
			return
		case text != nil:
			ok = send("id: " + f.id(now) + "\nevent: part\ndata: " + string(text) + "\n\n")
		case time.Since(said) > f.beat:
			ok = send(": nothing\n\n")
		}
		at = now
		select {
		case <-r.Context().Done():
			return
		case <-f.closed:
			return
		case <-tick.C:
		}
	}
}

// enter counts a reader; it returns false if there are too many.
func (f *Feed) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == mostReaders {
		return false
	}
	f.readers++
	return true
}

func (f *Feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
}
