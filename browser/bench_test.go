package browser

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// Opening the page of ten thousand records: ms/open from the start of the navigation until
// the first step is drawn.
func BenchmarkOpen(b *testing.B) {
	path := long(b)
	tab := open(b, path)
	total := 0.0
	for b.Loop() {
		tab.visit(b, path)
		total += eval[float64](b, tab, "performance.now()")
	}
	b.ReportMetric(total/float64(b.N), "ms/open")
}

// mostSteps is how many steps are measured at a time.
const mostSteps = 20

// A step of it, forward and back, with its layout: ms/step by the clock, and cpu-ms/step of
// the page's thread, which says the same on a machine that does something else besides.
func BenchmarkStep(b *testing.B) {
	tab := open(b, long(b))
	for _, c := range []struct{ name, key string }{{"forward", "ArrowRight"}, {"back", "ArrowLeft"}} {
		b.Run(c.name, func(b *testing.B) {
			eval[bool](b, tab, "(to(Math.floor(view.rows.length / 2)), true)")
			total, cpu := 0.0, -busy(b, tab)
			for b.Loop() {
				total += eval[float64](b, tab, "(() => { const t = performance.now(); for (let i = 0; i < 20; i++) { "+
					"document.getElementById('lanes').dispatchEvent(new KeyboardEvent('keydown', {key: '"+c.key+"', "+
					"bubbles: true})); document.body.offsetHeight } return performance.now() - t })()")
			}
			cpu += busy(b, tab)
			b.ReportMetric(total/float64(b.N*mostSteps), "ms/step")
			b.ReportMetric(cpu/float64(b.N*mostSteps), "cpu-ms/step")
		})
	}
}

// busy is how many milliseconds of processor the page's thread has had.
func busy(b *testing.B, tab *tab) float64 {
	b.Helper()
	domain := performance.EnableTimeDomainThreadTicks
	if _, err := chromedp.Call(tab, performance.Enable, performance.EnableParams{TimeDomain: domain}); err != nil {
		b.Fatal(err)
	}
	got, err := chromedp.Call(tab, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	b.Fatal("the browser has no TaskDuration")
	return 0
}
