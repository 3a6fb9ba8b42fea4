// Package states contains only tests. Their worlds cover most rules of the controllers. Whenever the controllers have
// settled, the tests print every object. The tests also run each world with one failing request, once for each sort of
// request, and expect the same states.
//
// A file below testdata is a world. Each line of its script is a step:
//
//	lawless                        use controllers from before ControllerRef
//	controllers NAME...            run these controllers
//	make SECTION                   create the manifests of this section
//	patch KIND/NAME [status] JSON  apply a merge patch
//	delete KIND/NAME POLICY        POLICY is Background, Foreground or Orphan
//	remove KIND/NAME               delete at once, as when the containers have stopped
//	rest                           run until nothing more happens
//	wait DURATION                  run until this time has passed
//
// The section "states" has the output of every rest and wait. go test -update rewrites it.
package states
