// Package browser tests pages in headless Chromium. Pages must show the violation, let the user step through the run,
// execute no code from a history, and be fast. The package is a separate module, so that no other module depends on the
// browser driver. "make browser" installs Chromium on Debian and runs the tests.
package browser
