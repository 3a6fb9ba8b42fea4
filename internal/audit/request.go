package audit

import (
	"bytes"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// request holds what a write requested.
type request struct {
	version    string // the resource version that it was made from, "" for whatever version
	uid        bool
	owners     bool   // it names the owners
	text       string // all of it, if it names owners
	labels     bool
	finalizers bool
	applies    bool   // a server-side apply
	replicas   string // of a Scale
	known      bool   // its body is known
	watched    bool   // it was reconstructed from a watch, so its preconditions are unknown
	body       bool   // it names something besides metadata and status
}

// bodies reads the request and the response of a write.
func (p *parser) bodies(e *event, v *envelope) {
	e.asked = p.request(e, v.request)
	e.asked.watched = v.watched
	if e.code >= 400 {
		return
	}
	switch {
	case e.verb == "deletecollection":
		p.collection(e, v.response)
	case v.response != nil:
		e.after = p.names.parseObject(v.response, e.sub == "" && e.verb != "create")
	case v.request != nil && (e.verb == "update" || e.verb == "create") && e.sub == "":
		if e.after = p.names.parseObject(v.request, false); e.after != nil {
			e.after.ResourceVersion = "" // it names the version it was made from, not the one it made
			if e.after.UID == "" {
				e.after.UID = types.UID("unknown:" + e.place.String())
			}
		}
	}
	if e.after != nil {
		e.order = number([]byte(e.after.ResourceVersion))
		if e.place.name == "" {
			e.place.name = e.after.Name
		}
	}
	e.bodiless = e.after == nil && v.response == nil
}

func (p *parser) request(e *event, b []byte) (r request) {
	if b == nil {
		return r
	}
	r.owners = bytes.Contains(b, []byte("ownerReferences"))
	if r.owners && e.verb == "patch" {
		r.text = string(b)
	}
	r.labels = bytes.Contains(b, []byte("labels"))
	r.finalizers = bytes.Contains(b, []byte("inalizers"))
	r.known = true
	if b[0] == '[' {
		r.body = speaksOfBody(b)
		return r
	}
	kind, version := false, false
	_ = members(b, func(key, value []byte) bool {
		switch string(key) {
		case "kind":
			kind = true
		case "apiVersion":
			version = true
		case "metadata", "preconditions":
			_ = members(value, func(key, value []byte) bool {
				switch string(key) {
				case "resourceVersion":
					r.version = text(value)
				case "uid":
					r.uid = true
				}
				return true
			})
		case "status":
		default:
			r.body = true
			if e.sub == "scale" && string(key) == "spec" {
				_ = members(value, func(key, value []byte) bool {
					if string(key) == "replicas" {
						r.replicas = string(value)
					}
					return true
				})
			}
		}
		return true
	})
	r.applies = e.verb == "patch" && kind && version
	return r
}

// speaksOfBody reports whether a JSON patch changes anything but metadata and status.
func speaksOfBody(b []byte) (is bool) {
	elements(b, func(op []byte) {
		_ = members(op, func(key, value []byte) bool {
			if string(key) == "path" {
				path := text(value)
				is = is || !strings.HasPrefix(path, "/metadata") && !strings.HasPrefix(path, "/status")
			}
			return true
		})
	})
	return is
}

func (p *parser) collection(e *event, b []byte) {
	if b == nil {
		return
	}
	_ = members(b, func(key, value []byte) bool {
		if string(key) == "items" {
			elements(value, func(item []byte) {
				if o := p.names.parseObject(item, false); o != nil {
					e.items = append(e.items, o)
				}
			})
		}
		return true
	})
}
