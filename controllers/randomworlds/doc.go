// Package randomworlds contains only tests. They draw worlds from seeds, each for one controller, and evaluate the laws
// in them. A seed decides the objects, with odd values of the fields that the controller reads, and with orphans and
// other owners' objects among them. It also decides what users and nodes do, which requests fail, which watches are
// paused, when a controller crashes, and how time passes.
//
// A right controller may violate a law in such a world for a reason that upstream's own controller shares. The table of
// findings has these reasons, and the worlds in which they occur.
package randomworlds
