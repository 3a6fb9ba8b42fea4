// Package casefile turns a case into a scenario file. A [Case] is a world given in Go: what it holds, the
// controllers under test, what the user does, and what must hold at the end. [Case.Explore] runs its file under
// many schedules; [Keep] writes a failure down, and [Replay] runs such a file again.
//
// Package simtest is its front for go test, and adds property tests and fuzzing. This package needs neither, so
// that a command can use it.
package casefile
