// Package thirdparty holds other projects' controllers to the laws: as they were released,
// unmodified, in a package for each, whose worlds, findings and shortest schedules are in
// its testdata. docs/evidence/third-party.md is made of what those tests write down.
// Package operators checks released operators as whole programs, in their own repositories.
package thirdparty
