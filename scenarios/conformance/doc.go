// Package conformance holds anybody's controller to the laws of ownership with one call
// in go test. A sample of what it works on is all it is told: what it creates, owns,
// adopts, releases and follows is found out by watching it in a quiet world, and from that
// the worlds are derived in which it is tried.
//
//	func TestOwnership(t *testing.T) {
//		conformance.Test(t, conformance.Subject{
//			Controller: widget,
//			CRDs:       os.DirFS("config/crd/bases"),
//			Samples:    []string{"config/samples/widget.yaml"},
//		})
//	}
//
// [Subject] is what is tried, [Test] tries it. [Fuzz] and [Property] draw the same cases
// with Go's fuzzer and with rapid.
//
// Each case is a [simtest.Case], explored under many schedules and with faults, and each law
// has a verdict: held, broken, not asked (nothing that could have broken it happened), not
// judged (nobody can tell it of a black box: it says what to declare), or that it does not
// apply. A controller that does nothing for the sample fails.
//
// It is imported by tests only, as simtest is. docs/use/conformance-test.md lists the cases,
// and shows a failure.
package conformance
