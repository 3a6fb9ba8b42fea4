// Package browser opens pages in a real browser, headless Chromium, and holds them to what they promise: that they
// show the violation, step, run nothing that a history holds, and stay quick. It is a module of its own, so that
// what drives the browser is nobody else's dependency. "make browser" installs Chromium where Debian is and runs it.
package browser
