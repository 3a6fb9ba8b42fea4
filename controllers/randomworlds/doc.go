// Package randomworlds contains only tests. They create random worlds, each for one controller, and evaluate the laws
// in them. A seed determines the objects, among them orphans, objects of other owners, and unusual values of the
// fields that the controller reads. It also determines the later events: actions of users and nodes, failed requests,
// paused watches, crashes of the controller, and the passing of time.
//
// In such a world, a right controller may violate a law only if upstream's controller violates it too. The variable
// findings in laws_test.go lists these violations with their reasons, and the worlds in which they occur.
package randomworlds
