// Package uuid stands in for the real one.
package uuid

func NewUUID() string { return "" }
