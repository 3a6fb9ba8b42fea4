// Package browser opens pages in a real browser, headless Chromium, and tests them: they show the violation, step
// through it, run no code from a history, and stay fast. It is a module of its own, so that no other module depends on
// the browser driver. "make browser" installs Chromium on Debian and runs the tests.
package browser
