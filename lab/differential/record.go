package differential

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/recorded"
)

// notes are the placeholders for what a server answered and another answers otherwise.
type notes struct {
	names  map[string]string // what was answered, and its placeholder
	counts map[string]int
	began  time.Time
	client bool // a request is being noted
}

func newNotes(namespace, prefix string, now time.Time) *notes {
	return &notes{names: map[string]string{namespace: "$ns", prefix: "$name:" + prefix[:1]}, counts: map[string]int{},
		began: now}
}

var (
	uids    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	stamps  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	version = regexp.MustCompile(`^[0-9]+$`)
)

// name is the placeholder of a value.
func (n *notes) name(form, value string) string {
	if p := n.names[value]; p != "" {
		return p
	}
	n.counts[form]++
	n.names[value] = fmt.Sprintf("$%s:%d", form, n.counts[form])
	return n.names[value]
}

// text puts placeholders into a text.
func (n *notes) text(s string) string {
	s = uids.ReplaceAllStringFunc(s, func(uid string) string { return n.name("uid", uid) })
	s = stamps.ReplaceAllStringFunc(s, func(at string) string {
		// Other days are the client's own.
		if when, err := time.Parse(time.RFC3339, at); err != nil || when.Sub(n.began).Abs() > 12*time.Hour {
			return at
		}
		return "$time"
	})
	for value, p := range n.names {
		if p == "$ns" || strings.HasPrefix(p, "$name:") {
			s = strings.ReplaceAll(s, value, p)
		}
	}
	return s
}

// value puts placeholders into a decoded JSON value; key is the key that it stands under.
func (n *notes) value(key, parent string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["kind"] == "Table" {
			ageless(v)
		}
		out := map[string]any{}
		for k, child := range v {
			out[n.text(k)] = n.value(k, key, child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = n.value(key, parent, v[i])
		}
		return out
	case json.Number:
		if (key == "nodePort" || key == "healthCheckNodePort") && (!n.client || n.names[v.String()] != "") {
			return n.name("port", v.String())
		}
	case string:
		switch {
		case key == "resourceVersion" && parent == "metadata" && version.MatchString(v) && v != "0":
			return n.name("rv", v)
		case key == "continue" && parent == "metadata":
			return n.name("continue", v)
		case (key == "clusterIP" || key == "clusterIPs") && v != "None" && v != "" && (!n.client || n.names[v] != ""):
			return n.name("ip", v)
		case key == "cells":
			return n.cell(v)
		}
		return n.text(v)
	}
	return v
}

// cell puts placeholders of addresses and ports into a cell of a table.
func (n *notes) cell(s string) string {
	for value, p := range n.names {
		if strings.HasPrefix(p, "$ip:") && s == value {
			return p
		}
		if strings.HasPrefix(p, "$port:") {
			s = strings.ReplaceAll(s, ":"+value+"/", ":"+p+"/")
		}
	}
	return n.text(s)
}

// ageless replaces the cells of a table that tell how much time has passed.
func ageless(table map[string]any) {
	columns, _ := table["columnDefinitions"].([]any)
	rows, _ := table["rows"].([]any)
	for i, c := range columns {
		column, _ := c.(map[string]any)
		if name := column["name"]; name != "Age" && name != "Last Seen" && name != "First Seen" {
			continue
		}
		for _, r := range rows {
			row, _ := r.(map[string]any)
			if cells, _ := row["cells"].([]any); i < len(cells) {
				if _, isText := cells[i].(string); isText {
					cells[i] = "$age"
				}
			}
		}
	}
}

// sent puts placeholders into the JSON of a request: addresses and ports that no answer has
// had are the client's own.
func (n *notes) sent(raw []byte) json.RawMessage {
	n.client = true
	defer func() { n.client = false }()
	return n.body(raw)
}

// body puts placeholders into JSON; what is none is text.
func (n *notes) body(raw []byte) json.RawMessage {
	v, err := recorded.Decode(raw)
	if err != nil {
		v = string(raw)
	}
	recorded.SortManaged(v)
	out, err := json.Marshal(n.value("", "", v))
	if err != nil {
		return raw
	}
	return out
}
