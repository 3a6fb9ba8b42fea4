// Package ci words what was found for continuous integration: a JUnit XML file,
// which nearly all of them read, and the annotations that GitHub shows beside the
// lines they are of.
package ci

import "time"

// Case is one file and what became of it.
type Case struct {
	Name string // the file, as it was named
	Took time.Duration

	Problems []Problem // none where it passed
	Skipped  string    // why it says nothing; "" where it does
	Page     string    // what was printed of it
}

// Problem is something that is wrong with a file.
type Problem struct {
	Error bool   // nothing was learnt: the file is bad, or runs cannot be trusted
	File  string // where it is in the repository, "" when it is not in it
	Line  int    // from 1; 0 for the file as a whole
	Title string // in a few words: a law, "bad file"
	Text  string
}
