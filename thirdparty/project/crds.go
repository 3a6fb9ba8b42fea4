package project

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/yamldoc"
)

// definitions returns a directory with the CRDs of a release, without descriptions. Descriptions are the largest part
// of a schema, and every run of a world reads the schema.
func (s *Project) definitions(t testing.TB) string {
	if s.kept != "" {
		return s.kept
	}
	var files []string
	for _, pattern := range s.Definitions {
		found, err := filepath.Glob(filepath.Join(s.released(t).dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no definitions %s (%v)", s.Module, pattern, err)
		}
		files = append(files, found...)
	}
	s.kept = t.TempDir()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range yamldoc.Split(text) {
			bare, err := silenced(doc.Text)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, doc.Line, err)
			}
			if bare != "" {
				name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".json"
				write(t, filepath.Join(s.kept, name), bare+"\n")
			}
		}
	}
	return s.kept
}

// silenced returns a CRD without descriptions. For any other object it returns "".
func silenced(text []byte) (string, error) {
	var d map[string]any
	if err := yaml.Unmarshal(text, &d); err != nil || d["kind"] != "CustomResourceDefinition" {
		return "", err
	}
	silence(d, false)
	bare, err := json.Marshal(d)
	return string(bare), err
}

// silence removes descriptions from a CRD. It keeps properties, labels and annotations that are called description.
func silence(v any, names bool) {
	switch v := v.(type) {
	case map[string]any:
		if !names {
			delete(v, "description")
		}
		for k, of := range v {
			silence(of, !names && (k == "properties" || k == "annotations" || k == "labels"))
		}
	case []any:
		for _, of := range v {
			silence(of, false)
		}
	}
}
