package fakeapi

// otherVersions are further versions of built-in kinds.
var otherVersions []*Kind
