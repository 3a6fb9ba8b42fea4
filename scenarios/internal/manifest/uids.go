package manifest

import (
	"encoding/json"
	"regexp"
)

// uidOf matches the uid of an object in a manifest or a patch: "$(uid rs/web)".
var uidOf = regexp.MustCompile(`\$\(uid ([^()\s"]*)\)`)

func hasUIDs(text []byte) bool { return uidOf.Match(text) }

// ReplaceUIDs replaces each expression in the text by the result of uid for it and the object it names. It returns the
// first error, and keeps the expression that caused it.
func ReplaceUIDs(text []byte, uid func(expr, object string) (string, error)) ([]byte, error) {
	var first error
	out := uidOf.ReplaceAllFunc(text, func(expr []byte) []byte {
		id, err := uid(string(expr), string(uidOf.FindSubmatch(expr)[1]))
		if err == nil {
			return []byte(id)
		}
		if first == nil {
			first = err
		}
		return expr
	})
	return out, first
}

// WithUIDs returns the manifest with the uids that the objects have now.
func (m *Manifest) WithUIDs(uid func(expr, object string) (string, error)) (*Manifest, error) {
	if !m.uids {
		return m, nil
	}
	data, err := ReplaceUIDs(m.JSON, uid)
	if err != nil {
		return nil, err
	}
	own := *m
	own.JSON, own.Object = data, m.Kind.New()
	if err := json.Unmarshal(data, own.Object); err != nil {
		panic("manifest: it does not decode with uids in it: " + err.Error())
	}
	own.setNamespace()
	return &own, nil
}
