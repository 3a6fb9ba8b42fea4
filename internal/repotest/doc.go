// Package repotest holds the rules that this tree keeps, as tests: who may import
// whom, how many files may use each other in a circle, what may be exported, and
// that pages name what exists.
package repotest
