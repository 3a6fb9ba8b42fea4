// Package house holds the rules that this tree keeps, as tests: who may import
// whom, how many files may use each other in a circle, what may be exported, that
// pages name what exists, and that every file is there for something.
package house
