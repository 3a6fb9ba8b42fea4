package conformance

var rightStatus, rightCleanup []right
