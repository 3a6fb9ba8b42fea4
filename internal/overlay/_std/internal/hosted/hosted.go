// Package hosted says whether a world hosts this process. The runtime sets On before packages are initialized.
package hosted

// On reports whether a world hosts this process.
var On bool

// Output, if not nil, is called with the bytes that the program writes to stdout and stderr.
var Output func(b []byte)
