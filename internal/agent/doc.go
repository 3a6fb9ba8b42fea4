// Package agent hosts programs in processes of their own: an operator's unmodified main, with its own versions of
// Kubernetes, built with the overlay of package internal/overlay.
//
// A world talks to the agent in each process (package internal/overlay/wire). Each life of a program is a new process;
// a crash kills it. Requests wait in the world until the scheduler executes and answers them. The clocks of all
// processes advance together: time passes to the earliest timer of any of them.
package agent
