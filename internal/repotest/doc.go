// Package repotest contains the rules of this repository, as tests: which packages may import which, how many files may
// depend on each other in a cycle, what may be exported, and that documentation refers only to existing things.
package repotest
