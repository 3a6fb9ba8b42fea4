// Package randomworlds contains only tests. They create random worlds, each for one controller, and evaluate the laws
// in them. A seed determines the objects, among them orphans, objects of other owners, and unusual values of the fields
// that the controller reads. It also determines the actions of users and nodes, the requests that fail, the watches
// that are paused, the crashes of the controller, and the time that passes.
//
// A controller may violate a law in such a world only if upstream's controller does the same. The table of findings
// lists the reasons, and the worlds in which they occur.
package randomworlds
