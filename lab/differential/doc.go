// Package differential drives a server of any make and this module's with the same
// generated sequences of requests, and reports the first difference, shrunk to the
// shortest sequence that shows it:
//
//	make differential SERVER=https://127.0.0.1:6443 TOKEN=...
//
// The server is asked first. What it answers is put into the form of the recorded cases
// (fakeapi/testdata/vectors/README.md), which are then played to this module's server:
// so a sequence that is worth it is a new case. Tests are its only users.
package differential
