package httpapi

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

// Some clients read OpenAPI documents of version 3 in protobuf.
func TestOpenAPIVersion3InProtobuf(t *testing.T) {
	for path, code := range map[string]int{"apis/apps/v1": 200, "apis/none/v1": 404} {
		r := httptest.NewRequest("GET", "/openapi/v3/"+path, nil)
		r.Header.Set("Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf")
		w := httptest.NewRecorder()
		newHandler().ServeHTTP(w, r)
		document := &openapiv3.Document{}
		if w.Code != code || code == 200 && (proto.Unmarshal(w.Body.Bytes(), document) != nil || document.GetOpenapi() != "3.0.0" ||
			w.Header().Get("Content-Type") != "application/com.github.proto-openapi.spec.v3.v1.0+protobuf") {
			t.Errorf("%s: %d %s", path, w.Code, w.Header())
		}
	}
}

// Some clients read the feature gates of the server in its metrics.
func TestMetrics(t *testing.T) {
	w := httptest.NewRecorder()
	newHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8; escaping=underscores" {
		t.Errorf("%d %s", w.Code, w.Header())
	}
	lines := strings.SplitAfter(w.Body.String(), "\n")
	if len(lines) < 200 {
		t.Fatalf("%d lines", len(lines))
	}
	sample := regexp.MustCompile(`^kubernetes_feature_enabled\{name="\w+",stage="(ALPHA|BETA|DEPRECATED|)"\} [01]\n$`)
	for i, line := range lines[2 : len(lines)-1] {
		if !sample.MatchString(line) || i > 0 && line <= lines[i+1] {
			t.Errorf("line %d: %q", i+3, line)
		}
	}
	for _, want := range []string{ // of each stage, and a gate of each package
		"# HELP kubernetes_feature_enabled [BETA] ", "# TYPE kubernetes_feature_enabled gauge\n",
		`{name="AllAlpha",stage="ALPHA"} 0`, `{name="CRDObservedGenerationTracking",stage="BETA"} 1`,
		`{name="WatchList",stage="BETA"} 1`, `{name="InPlacePodVerticalScaling",stage=""} 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s is missing", want)
		}
	}
	if _, text, _ := told(newHandler(), "GET", "/", "", ""); !strings.Contains(text, `"/metrics"`) {
		t.Error(text)
	}
}
