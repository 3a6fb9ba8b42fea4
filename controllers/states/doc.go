// Package states holds tests only: worlds in which the controllers meet most of their rules. Every object is shown
// whenever they have settled. Each world runs again with each request failing once, and must reach the same states.
//
// A file below testdata is a world. Its script has a step on each line:
//
//	lawless                        the controllers are from before ControllerRef
//	controllers NAME...            who runs
//	make SECTION                   the manifests of that section
//	patch KIND/NAME [status] JSON  a merge patch
//	delete KIND/NAME POLICY        Background, Foreground or Orphan
//	remove KIND/NAME               at once, as when its containers have stopped
//	rest                           until nothing more happens
//	wait DURATION                  until so much time has passed
//
// The section "states" is what every rest and wait has shown, and is rewritten by go test with -update.
package states
