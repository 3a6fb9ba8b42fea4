// Package ref holds what every controller that owns objects has in common:
// deciding what to do with an object ([Decide]), and doing it: adopt, release
// ([Manager]). The rules are those of the ControllerRef proposal, "Behavior",
// with what Kubernetes 1.36 added to them.
//
// One Manager serves one sync of one controller object. It is made anew in the
// next sync, because the answer of its live check holds for one sync only.
package ref
