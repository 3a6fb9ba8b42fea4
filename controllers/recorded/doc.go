// Package recorded contains only tests. They replay cases with the controllers of this module. The cases were recorded
// from a real kube-controller-manager v1.36.3. They are in fakeapi/testdata/vectors, areas gc and controllers.
//
// The requests go through the HTTP handler of the server of a cluster in which the controllers run. The tests compare
// the listings after the controllers have settled, the counts in asides, and the status codes.
package recorded
