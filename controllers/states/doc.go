// Package states contains only tests. Their worlds cover most rules of the controllers. Whenever the controllers have
// settled, the tests print every object. The tests also run each world with one failing request, once for each sort of
// request, and expect the same states.
//
// A file below testdata is a world. Each line of its script is a step:
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
