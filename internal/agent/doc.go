// Package agent runs operators as separate processes. It runs an operator's unmodified main, built with the operator's
// own Kubernetes versions and the overlay of package internal/overlay.
//
// A world talks to the agent in each process (package internal/overlay/wire). A life is one run of a program; a crash
// ends it. Requests wait in the world until the scheduler executes and answers them. The clocks of all processes
// advance together, each time to the earliest timer of any process.
package agent
