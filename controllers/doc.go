// Package controllers is the table of controllers that this module brings: the
// ReplicaSet and ReplicationController controllers in three generations, the
// garbage collector, the namespace controller, and a kubelet. They are written to be read: each shows the
// rules of ownership it follows, by the clauses of the specification.
//
// The rules that all of them share are in ref (claim, adopt, release), routing
// (which event concerns whom) and expectations. A rule that Kubernetes'
// own controllers follow but the proposal does not state is cited as "RULES"
// with a section and number.
package controllers
