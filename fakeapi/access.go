package fakeapi

// Access is what a user would do to objects, for [Options].Authorize to decide.
type Access struct {
	User                  string
	Verb, Group, Version  string // "*" is all of them
	Resource, Subresource string
	Namespace, Name       string
}
