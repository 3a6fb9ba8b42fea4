package httpapi

import (
	"net/http"
	"runtime"
	"strings"

	"k8s.io/apimachinery/pkg/version"
)

// defaultVersion is what /version answers: the server whose behaviour this is.
func defaultVersion() version.Info {
	return version.Info{
		Major: "1", Minor: "36", EmulationMajor: "1", EmulationMinor: "36", MinCompatibilityMajor: "1", MinCompatibilityMinor: "35",
		GitVersion: "v1.36.3", GitCommit: "threelaws", GitTreeState: "clean", BuildDate: "2026-01-01T00:00:00Z",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// answerPlain answers the paths about the server itself; ok is false for any other.
func (h *Handler) answerPlain(r *http.Request) (a *answer, ok bool) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case name == "healthz" || name == "readyz" || name == "livez":
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return fail(format{media: jsonMedia}, errMethod()), true
		}
		return &answer{code: http.StatusOK, text: health(r, name)}, true
	case path == "/version":
		return raw(format{media: jsonMedia, pretty: true}, &h.Version), true
	}
	return nil, false
}

// health is the answer to a health check; with verbose it says what was checked.
func health(r *http.Request, name string) string {
	if _, verbose := r.URL.Query()["verbose"]; verbose {
		return "[+]ping ok\n" + name + " check passed\n"
	}
	return "ok"
}
