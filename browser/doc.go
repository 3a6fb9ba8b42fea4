// Package browser tests the pages of runs in headless Chromium. It tests that a page shows the violation and its steps,
// runs no code from a history, and stays fast. The package is a separate module, so that no other module depends on the
// browser driver. "make browser" installs Chromium on Debian and runs the tests.
package browser
