// Package thirdparty checks released, unmodified controllers of other projects against the laws. Each project has a
// package, whose testdata contains the worlds, the findings and the minimized schedules. docs/evidence/third-party.md
// is generated from these files. Package operators checks released operators as whole programs, in their own
// repositories.
package thirdparty
