// Package page shows a run to somebody who was not there: as one HTML file with
// everything in it, and as a picture for a document.
//
// What is shown is taken from the history, the lines of its timeline and what the
// laws found, as package render has them: [Of] makes of it a value that encodes to
// JSON, [Page.HTML] puts that into a file with a style and a program of its own, and
// [Page.SVG] draws the swimlane alone. [Index] is the page of many pages.
//
// The file asks the network for nothing and may not: its policy of content names the
// hashes of its own style and program, and forbids all else. The program writes what
// a history holds as text, never as markup.
package page
