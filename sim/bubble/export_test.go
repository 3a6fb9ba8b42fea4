package bubble

// Patience is set by tests of what hangs.
var Patience = &patience
