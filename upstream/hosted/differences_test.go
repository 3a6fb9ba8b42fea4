package hosted_test

// differences are the worlds that end otherwise with upstream's controllers than with ours.
var differences = map[string]string{}
