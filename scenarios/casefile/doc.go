// Package casefile turns a case into a scenario file. A [Case] is a world given in Go: its objects, the controllers
// under test, the user's actions, and what must hold at the end. [Case.Explore] runs the file under many schedules.
// [Keep] writes a failure as a file, and [Replay] runs such a file again.
//
// Package simtest is the front end for go test; it adds property tests and fuzzing. This package needs neither, so
// commands can use it.
package casefile
