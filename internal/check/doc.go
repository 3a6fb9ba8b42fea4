// Package check holds anybody's controller to the laws of ownership, given a sample of what it works on. [Prepare]
// watches the controller in quiet worlds to find out what it creates, owns, adopts, releases and follows. The
// [Plan] that it returns has the cases in which the controller is tried; whoever tries them hands the results to
// [Plan.Verdicts].
//
// Package scenarios/conformance is the front for go test, and package cli has the command.
package check
