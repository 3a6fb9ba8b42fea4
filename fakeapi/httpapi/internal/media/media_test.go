package media

import (
	"net/http/httptest"
	"testing"
)

func TestNegotiate(t *testing.T) {
	const table, partial = ";as=Table;g=meta.k8s.io;v=v1", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	asTable := Format{Type: JSON, As: AsTable, Group: "meta.k8s.io", Version: "v1"}
	asPartial := Format{Type: Proto, As: AsPartial, Group: "meta.k8s.io", Version: "v1"}
	for _, c := range []struct {
		name, accept string
		offered      Forms
		want         Format
		ok           bool
	}{
		{"nothing asked", "", Objects, Format{Type: JSON}, true},
		{"anything", "*/*", Objects, Format{Type: JSON}, true},
		{"the best first", "application/json;q=0.5,application/yaml", Objects, Format{Type: YAML}, true},
		{"a type of others", "text/html,application/yaml", Objects, Format{Type: YAML}, true},
		{"protobuf", Proto, Objects, Format{Type: Proto}, true},
		{"protobuf of a custom kind", Proto, Custom, Format{Type: JSON}, false},
		{"protobuf or else JSON of a custom kind", Proto + "," + JSON, Custom, Format{Type: JSON}, true},
		{"metadata of a custom kind in protobuf", Proto + partial, Custom, asPartial, true},
		{"a Table", JSON + table + "," + JSON, Objects, asTable, true},
		{"a Table in protobuf", Proto + table, Objects, Format{Type: JSON}, false},
		{"a Table of another group", "application/json;as=Table;g=example.com;v=v1", Objects,
			Format{Type: JSON}, false},
		{"a Table of discovery", JSON + table, Discovery, Format{Type: JSON}, false},
		{"only types of others", "image/png", Objects, Format{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept", c.accept)
			if f, ok := Negotiate(r, c.offered); f != c.want || ok != c.ok {
				t.Errorf("%+v %t, want %+v %t", f, ok, c.want, c.ok)
			}
		})
	}
}

// Responses are indented for browsers and curl, unless the query says otherwise.
func TestPretty(t *testing.T) {
	for _, c := range []struct {
		query, agent string
		want         bool
	}{
		{"", "kubectl/v1.36", false},
		{"", "curl/8", true},
		{"?pretty=1", "kubectl/v1.36", true},
		{"?pretty=false", "curl/8", false},
		{"?pretty=", "curl/8", true},
	} {
		r := httptest.NewRequest("GET", "/"+c.query, nil)
		r.Header.Set("User-Agent", c.agent)
		if f, _ := Negotiate(r, Objects); f.Pretty != c.want {
			t.Errorf("%q of %s: %t", c.query, c.agent, f.Pretty)
		}
	}
}

func TestContentType(t *testing.T) {
	for header, want := range map[string]string{
		"": JSON, "application/yaml; charset=utf-8": YAML, Proto: Proto, "text/plain": "text/plain", ";": "",
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Content-Type", header)
		if got := ContentType(r); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
