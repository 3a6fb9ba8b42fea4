package hosted_test

// accusation is a law that upstream's controllers break in a world of the library.
type accusation struct{ world, law string }

// findings are the accusations that are true: the bug of the collection, or the finding of
// docs/findings.md, that each of them is.
var findings = map[accusation]string{}
