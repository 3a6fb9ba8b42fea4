// Package kubectltest tests the API server with real clients: kubectl's own code, client-go, and an operator on
// controller-runtime. It is a separate module, so that the library does not depend on these clients.
//
// Each testdata/*.txtar is a session: command lines with their output, and manifests. A session runs in one process, in
// a synctest bubble. No port is opened, time is virtual, and controllers run between kubectl's requests. Therefore the
// output is the same in every run.
//
// The commands of a session are
//
//	kubectl ARGS             run it; with " < FILE" at the end FILE is its input
//	kubectl ARGS &           start it and go on
//	let NAME ARGS            run kubectl ARGS; then $NAME is its output
//	await                    wait for the oldest command started with &, print its output
//	hangup                   end the open watches, as a server does; then await
//	controllers NAME...      start controllers, as serve --controllers does
//	node                     add a node with a kubelet, as serve does
//	sleep DURATION           let time pass
//	editor OLD NEW...        kubectl edit then replaces OLD by NEW
//
// No containers run, so the server refuses logs, exec, attach, cp and port-forward. It has no metrics API for top.
//
//	go test ./...            compares
//	go test ./... -update    rewrites the output below the commands
package kubectltest
