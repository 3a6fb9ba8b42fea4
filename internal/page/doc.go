// Package page shows a run as one self-contained HTML file, and as a picture for a document.
//
// The input is the history, the lines of its timeline and the violations, in the types of package render. [Of] turns
// them into a value that encodes to JSON. [Page.HTML] puts that into a file with its own style and script; [Page.SVG]
// draws the swimlane only. [Index] makes the page of many pages.
//
// The file cannot use the network: its content security policy allows the hashes of its own style and script, and
// forbids everything else. The script inserts texts of a history as text, never as markup.
package page
