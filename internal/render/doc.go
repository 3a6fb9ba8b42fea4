// Package render turns histories into text: the timeline under a step of a scenario, the page of a failing run with its
// causes, a fight as its cycle, and ownership as a tree or as DOT. Everything fits 100 columns and needs no colour.
// Uids and resource versions are never printed, so one schedule has the same text in every run.
//
// The package reads an object's metadata, mainly [Owners]. It finds other changes by comparing both versions.
package render
