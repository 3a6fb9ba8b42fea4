// Package livepage serves the HTML page that shows a running world. A [Feed] reads the world periodically and keeps its
// last records. It sends each page the records that the page does not have yet, as server-sent events.
//
// If no page is open, the Feed does nothing. It locks the world only to copy new records or the existing objects, so
// slow pages do not delay the world.
package livepage

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/threelaws/threelaws/internal/page"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// World contains the data that a Feed reads while the world is locked.
type World struct {
	History  *sim.History
	Broken   []render.Mark       // all violations until now
	Standing func() []sim.Record // returns a creation record for each existing object
}

// Kept is the maximal number of records on a page at its beginning. When a page has twice as many, it begins again.
const Kept = 5000

// Feed keeps the last records of a running world, and sends them to the open pages.
type Feed struct {
	look     func(see func(World)) // locks the world and calls see
	name     string                // the name of this run of the world in event IDs
	kept     int
	every    time.Duration // the interval at which a page gets new records
	beat     time.Duration // the interval of keep-alive messages
	patience time.Duration // the time after which a page that does not read is disconnected
	closed   chan struct{}
	once     sync.Once

	mu      sync.Mutex
	run     *page.Live
	epoch   int // how often the run was restarted, including its first start
	marks   int // the number of violations that were added to the page
	readers int
}

// New returns the feed of a world. The function look locks the world and calls its argument. Displayed times are
// relative to the parameter from. name distinguishes this run of the world from other runs.
func New(look func(see func(World)), from time.Duration, name string) *Feed {
	return &Feed{look: look, name: name, kept: Kept, every: 250 * time.Millisecond, beat: 15 * time.Second,
		patience: 10 * time.Second, closed: make(chan struct{}), run: page.NewLive(from)}
}

// Close ends all open streams. Later streams end at once.
func (f *Feed) Close() { f.once.Do(func() { close(f.closed) }) }

// place is the position of a page: the number of parts that it has received in this epoch.
type place struct{ epoch, parts int }

func (f *Feed) id(p place) string { return fmt.Sprintf("%s-%d-%d", f.name, p.epoch, p.parts) }

// placeOf parses an event ID. For an invalid ID, or the ID of another run, it returns the zero place.
func (f *Feed) placeOf(id string) (p place) {
	words := strings.Split(id, "-")
	if len(words) != 3 || words[0] != f.name {
		return p
	}
	epoch, err := strconv.Atoi(words[1])
	parts, e := strconv.Atoi(words[2])
	if err != nil || e != nil || parts < 0 {
		return p
	}
	return place{epoch, parts}
}

// since reads new records from the world. It returns the parts that a page at place p lacks, in JSON, or nil for none.
// It also returns the page's new place.
func (f *Feed) since(p place) ([]byte, place, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.follow()
	if p.epoch != f.epoch || p.parts > f.run.Parts() {
		p.parts = 0
	}
	text, err := f.run.Since(p.parts)
	return text, place{f.epoch, f.run.Parts()}, err
}

func (f *Feed) follow() {
	var standing, records []sim.Record
	var marks []render.Mark
	first, restart := 0, false
	f.look(func(w World) {
		h := w.History
		held := h.Len() - len(h.Records)
		first = f.run.Next()
		restart = f.epoch == 0 || first < held || f.run.Len()+h.Len()-first > 2*f.kept
		if restart {
			first = max(held, h.Len()-f.kept)
			standing = w.Standing()
		}
		records = append(records, h.Records[first-held:]...)
		marks = append(marks, w.Broken[f.marks:]...)
	})
	f.marks += len(marks)
	if restart {
		f.epoch++
		f.run.Begin(standing, first, records)
		records = nil
	}
	f.run.Add(records, marks)
}

// Path is the URL path of the page. It does not conflict with the API, whose resources begin with /api and /apis.
const Path = "/threelaws/"

const events = Path + "events"

// mostReaders is the maximal number of open pages.
const mostReaders = 16

// Over returns a handler that serves the page, and passes other requests to api.
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
		switch why := RefusalOf(r); {
		case why != "":
			http.Error(w, why, http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "the page is read-only", http.StatusMethodNotAllowed)
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

// RefusalOf returns why a request must be refused, or "". It refuses requests from pages of other origins, except links
// to the page. Such requests have an Origin or Sec-Fetch-Site header, or a foreign host name that resolves to this
// server. It accepts requests from this server's pages, from the address bar, and from programs.
func RefusalOf(r *http.Request) string {
	name := r.Host
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	if name != "localhost" && net.ParseIP(strings.Trim(name, "[]")) == nil {
		return fmt.Sprintf("this is served at an address, or at localhost, not at %q", name)
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

// stream sends events to one page until the page is closed or no longer reads, or until the Feed is closed.
func (f *Feed) stream(w http.ResponseWriter, r *http.Request) {
	if !f.enter() {
		http.Error(w, fmt.Sprintf("%d pages are open, the limit", mostReaders), http.StatusServiceUnavailable)
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
