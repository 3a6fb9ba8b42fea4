// Package repotest contains the rules of this repository, as tests: which packages may import which, how many files may
// depend on each other in a cycle, and what may be exported. Documentation may refer only to things that exist.
package repotest
