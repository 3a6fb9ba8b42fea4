// Package render turns histories into text: the timeline under a step of a
// scenario, the page of a failing run with its causes, a fight as its cycle,
// and ownership as a tree or as DOT. Everything fits 100 columns and needs no
// colour. Unique ids and resource versions are never printed, so the text of
// one schedule is the same in every run.
//
// Of an object the package knows its metadata, [Owners] above all; what else a
// write changed it finds by walking both versions.
package render
