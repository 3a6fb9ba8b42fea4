package names

import "time"

var started = time.Now() // test files are not checked
