// Package kubectltest drives the API server with its real clients: kubectl's own
// code, client-go's clientsets and informers, and, for comparison,
// controller-runtime's fake client. It holds tests only, in a module of its own,
// so that what the clients need is not what the library needs.
//
// Each testdata/*.txtar is a session: command lines, beneath each what it
// printed, and the manifests. A session runs in-process and in a synctest
// bubble: no port is opened, time is virtual, and the controllers take their
// turns between kubectl's requests, so the output is the same in every run.
//
//	go test ./...            compares
//	go test ./... -update    rewrites what stands beneath the commands
package kubectltest
