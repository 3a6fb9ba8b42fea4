// Package recorded contains only tests. They replay cases that were recorded from a real kube-controller-manager,
// with the controllers of this module. The cases are in fakeapi/testdata/vectors, areas gc and controllers.
//
// The requests of a case are sent to the HTTP handler of a simulated cluster, in which the controllers run. The tests
// compare the status codes, the listings after the controllers have settled, and the numbers of Pods in asides. An aside
// is a line of a case that is no request: an action outside the API, or numbers of Pods.
package recorded
