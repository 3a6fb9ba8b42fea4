// Package states contains only tests: worlds in which the controllers meet most of their rules. The tests print every
// object whenever the controllers have settled. Each world runs again with each request failing once, and must reach
// the same states.
//
// A file below testdata is a world. Its script has a step on each line:
//
//	lawless                        use controllers from before ControllerRef
//	controllers NAME...            the controllers to run
//	make SECTION                   create the manifests of that section
//	patch KIND/NAME [status] JSON  a merge patch
//	delete KIND/NAME POLICY        Background, Foreground or Orphan
//	remove KIND/NAME               at once, as when its containers have stopped
//	rest                           until nothing more happens
//	wait DURATION                  until that much time has passed
//
// The section "states" has the output of every rest and wait, and is rewritten by go test with -update.
package states
