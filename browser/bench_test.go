package browser

import "testing"

// Opening the page of ten thousand steps: ms/open from the start of the navigation until
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

// A step of it, forward and back: ms/step of the page's own work with its layout.
func BenchmarkStep(b *testing.B) {
	tab := open(b, long(b))
	for _, c := range []struct{ name, key string }{{"forward", "ArrowRight"}, {"back", "ArrowLeft"}} {
		b.Run(c.name, func(b *testing.B) {
			press(b, tab, "Home")
			eval[bool](b, tab, "(to(Math.floor(view.rows.length / 2)), true)")
			total := 0.0
			for b.Loop() {
				total += eval[float64](b, tab, "(() => { const t = performance.now(); for (let i = 0; i < 20; i++) { "+
					"document.getElementById('lanes').dispatchEvent(new KeyboardEvent('keydown', {key: '"+c.key+"', "+
					"bubbles: true})); document.body.offsetHeight } return (performance.now() - t) / 20 })()")
			}
			b.ReportMetric(total/float64(b.N), "ms/step")
		})
	}
}
