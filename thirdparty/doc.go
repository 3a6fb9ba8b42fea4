// Package thirdparty tests released, unmodified controllers of other projects with the laws. Each project has a package
// with its worlds, findings and shortest schedules in testdata. docs/evidence/third-party.md is generated from these.
// Package operators checks released operators as whole programs, in their own repositories.
package thirdparty
