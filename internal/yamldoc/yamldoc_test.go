package yamldoc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	doc := func(line int, text string) Document {
		if text == "" {
			return Document{Line: line}
		}
		return Document{line, []byte(text)}
	}
	for _, c := range []struct {
		name, text string
		want       []Document
	}{
		{"nothing", "", []Document{doc(1, "")}},
		{"one", "a: 1\nb: 2", []Document{doc(1, "a: 1\nb: 2")}},
		{"two", "a: 1\n---\nb: 2\n", []Document{doc(1, "a: 1\n"), doc(3, "b: 2\n")}},
		{"a marker first and last", "---\na: 1\n---", []Document{doc(1, ""), doc(2, "a: 1\n"), doc(4, "")}},
		{"a marker with a comment", "--- # the first\na: 1\n", []Document{doc(1, ""), doc(2, "a: 1\n")}},
		{"a marker with a carriage return", "a: 1\r\n---\r\nb: 2\r\n",
			[]Document{doc(1, "a: 1\r\n"), doc(3, "b: 2\r\n")}},
		{"a document on the marker's line", "a: 1\n--- {b: 2}\n", []Document{doc(1, "a: 1\n"), doc(2, "{b: 2}\n")}},
		{"a rule is no marker", "----\n", []Document{doc(1, "----\n")}},
		{"nor is a list", " --- \n---a\n", []Document{doc(1, " --- \n---a\n")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Split([]byte(c.text))); diff != "" {
				t.Errorf("- want, + got\n%s", diff)
			}
		})
	}
}
