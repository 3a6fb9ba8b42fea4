// Package thirdparty tests other projects' controllers with the laws, unmodified and as they were released. Each
// project has a package; its testdata has the worlds, findings and shortest schedules. docs/evidence/third-party.md is
// generated from these. Package operators checks released operators as whole programs, in their own repositories.
package thirdparty
