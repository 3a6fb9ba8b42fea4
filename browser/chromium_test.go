package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	cdruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// chromium returns the path of the browser, or "" if there is none.
func chromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// tab is an open page.
type tab struct {
	context.Context

	mu   sync.Mutex
	told []string // errors and warnings of the browser
}

// open opens a file or an address in a new browser.
func open(t testing.TB, path string) *tab {
	t.Helper()
	binary := chromium()
	if binary == "" {
		fmt.Fprintln(os.Stderr, "NOT RUN: no chromium on the PATH; make browser installs it")
		t.Skip("NOT RUN: no chromium on the PATH; make browser installs it")
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(binary), chromedp.Headless,
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WindowSize(1400, 900))
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &tab{}
	if err := chromedp.Listen(ctx, b.listen); err != nil { // starts the browser
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(end)
	b.Context = ctx
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	b.visit(t, path)
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdruntime.EventExceptionThrown:
		b.told = append(b.told, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *cdruntime.EventConsoleAPICalled:
		b.told = append(b.told, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		b.told = append(b.told, e.Entry.Text)
	case *page.EventJavascriptDialogOpening:
		b.told = append(b.told, "dialog: "+e.Message)
	}
}

// visit opens a file or an address, and waits until it is loaded.
func (b *tab) visit(t testing.TB, path string) {
	t.Helper()
	if !strings.Contains(path, "://") {
		path = "file://" + path
	}
	if err := chromedp.Do(b, chromedp.Navigate(path)); err != nil {
		t.Fatal(err)
	}
}

// quiet fails the test if the browser has reported an error or a warning.
func (b *tab) quiet(t testing.TB) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.told {
		t.Errorf("the browser says: %s", what)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](t testing.TB, b *tab, expression string) T {
	t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func text(t testing.TB, b *tab, selector string) string {
	t.Helper()
	return eval[string](t, b, fmt.Sprintf("document.querySelector(%q)?.innerText ?? 'no '+%q", selector, selector))
}

// press presses a key while the lanes have the focus.
func press(t testing.TB, b *tab, key string) {
	t.Helper()
	eval[bool](t, b, fmt.Sprintf(
		"document.getElementById('lanes').dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true}))", key))
}

// threelaws runs a command line, and returns what it printed.
func threelaws(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	c := cli.Command{Registry: builtin.Registry(), Bare: true, Library: scenarios.Library(), Name: "threelaws",
		Out: &out,
		Err: &errs}
	if code := c.Run(context.Background(), args); code > 1 {
		t.Fatalf("%v: exit %d\n%s", args, code, errs.String())
	}
	return out.String()
}

// write writes a page to a temporary file, and returns its path.
func write(t testing.TB, html []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, html, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
