// Package browser tests the HTML pages of runs (internal/page) in headless Chromium. A page must show the violation and
// its steps, must not execute text of the run, and must stay fast. The package is a separate module, so that no other
// module depends on the browser driver. "make browser" installs Chromium on Debian and runs the tests.
package browser
