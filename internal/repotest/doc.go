// Package repotest holds the rules of this repository, as tests: which package may import which, how many files may use
// each other in a cycle, what may be exported, and that pages name only existing things.
package repotest
