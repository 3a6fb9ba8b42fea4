// Package recorded holds tests only: they replay what was recorded from a real kube-controller-manager v1.36.3 with the
// controllers of this module. The cases are in fakeapi/testdata/vectors, areas gc and controllers.
//
// The requests go one by one through the HTTP handler, in front of the server of a cluster in which the controllers
// run. What is compared is what the record can promise: the listings that were taken after the controllers had settle,
// the counts in asides, and the status codes of the requests.
package recorded
