package httpapi_test

import (
	"net/http/httptest"
	"testing"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

func TestNegotiate(t *testing.T) {
	const table, partial = ";as=Table;g=meta.k8s.io;v=v1", ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	asTable := media.Format{Type: media.JSON, As: media.AsTable, Group: "meta.k8s.io", Version: "v1"}
	asPartial := media.Format{Type: media.Proto, As: media.AsPartial, Group: "meta.k8s.io", Version: "v1"}
	for _, c := range []struct {
		name, accept string
		offered      media.Forms
		want         media.Format
		ok           bool
	}{
		{"nothing asked", "", media.Objects, media.Format{Type: media.JSON}, true},
		{"anything", "*/*", media.Objects, media.Format{Type: media.JSON}, true},
		{"the best first", "application/json;q=0.5,application/yaml", media.Objects, media.Format{Type: media.YAML}, true},
		{"a type of others", "text/html,application/yaml", media.Objects, media.Format{Type: media.YAML}, true},
		{"protobuf", media.Proto, media.Objects, media.Format{Type: media.Proto}, true},
		{"protobuf of a custom kind", media.Proto, media.Custom, media.Format{Type: media.JSON}, false},
		{"protobuf or else JSON of a custom kind", media.Proto + "," + media.JSON, media.Custom, media.Format{Type: media.JSON}, true},
		{"metadata of a custom kind in protobuf", media.Proto + partial, media.Custom, asPartial, true},
		{"a Table", media.JSON + table + "," + media.JSON, media.Objects, asTable, true},
		{"a Table in protobuf", media.Proto + table, media.Objects, media.Format{Type: media.JSON}, false},
		{"a Table of another group", "application/json;as=Table;g=example.com;v=v1", media.Objects,
			media.Format{Type: media.JSON}, false},
		{"a Table of discovery", media.JSON + table, media.Discovery, media.Format{Type: media.JSON}, false},
		{"only types of others", "image/png", media.Objects, media.Format{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept", c.accept)
			if f, ok := media.Negotiate(r, c.offered); f != c.want || ok != c.ok {
				t.Errorf("%+v %t, want %+v %t", f, ok, c.want, c.ok)
			}
		})
	}
}

// Responses are indented for browsers and curl by default. The query parameter pretty changes this.
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
		if f, _ := media.Negotiate(r, media.Objects); f.Pretty != c.want {
			t.Errorf("%q of %s: %t", c.query, c.agent, f.Pretty)
		}
	}
}

func TestContentType(t *testing.T) {
	for header, want := range map[string]string{
		"": media.JSON, "application/yaml; charset=utf-8": media.YAML, media.Proto: media.Proto, "text/plain": "text/plain", ";": "",
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Content-Type", header)
		if got := media.ContentType(r); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
