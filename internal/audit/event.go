package audit

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// event is the relevant part of one log line: a write, a read, or a refused request. Its strings are copies, so the
// line is not kept in memory.
type event struct {
	at          time.Time // the event's stageTimestamp
	order       uint64    // sort key: the resource version that the write made, or the latest version before the event
	user, agent string
	verb        string
	uri         string // only the query of requestURI
	place       place
	sub         string // the subresource
	uid         string // the UID in objectRef
	code        int
	reason      string
	message     string
	id          uint64 // a digest of the audit ID
	doubt       bool   // no event, but a lost line of the log, whose object is unknown
	bodiless    bool   // a write whose body is missing because of the audit policy or a truncation

	asked request
	after *Object   // the object in the response
	items []*Object // the objects in the response to deletecollection
}

type place struct{ group, resource, namespace, name string }

// stray is the reason for skipping a line.
type stray string

const (
	straySilent  stray = ""
	strayBroken  stray = "lines that are cut off, or not JSON"
	strayForeign stray = "lines that are not audit.k8s.io/v1 events"
	strayStage   stray = "events of a stage before the response"
)

// reads and writes contain the verbs that are processed.
var reads = map[string]bool{"get": true, "list": true, "watch": true}
var writes = map[string]bool{"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true}

// passedOver lists resources to ignore: many clients write events and leases by design; the others are only queries.
var passedOver = map[string]bool{"events": true, "leases": true, "tokenreviews": true, "subjectaccessreviews": true,
	"selfsubjectaccessreviews": true, "localsubjectaccessreviews": true, "selfsubjectrulesreviews": true,
	"selfsubjectreviews": true}

// parser parses lines. It may be used by only one goroutine.
type parser struct {
	names names
}

type envelope struct {
	kind, apiVersion, stage, id, user, impersonated, agent, object, status, request, response, staged []byte
	verb                                                                                              string
	uri                                                                                               []byte
	watched                                                                                           bool
}

// parse parses a line. For a skipped line it returns nil and the reason. For an irrelevant line it returns nil and
// straySilent. For a broken line it returns an event if the readable part identifies the object.
func (p *parser) parse(line []byte) (*event, stray) {
	var v envelope
	err := v.read(p, line)
	if v.apiVersion != nil && (string(v.apiVersion) != `"audit.k8s.io/v1"` || string(v.kind) != `"Event"`) {
		return nil, strayForeign
	}
	if err == nil && v.apiVersion == nil {
		return nil, strayForeign
	}
	if err == nil && string(v.stage) != `"ResponseComplete"` {
		return nil, strayStage
	}
	if err != nil && (!writes[v.verb] || v.object == nil) {
		return nil, strayBroken
	}
	e := p.event(&v)
	if err != nil {
		if e != nil {
			e.bodiless = true
		}
		return e, strayBroken
	}
	return e, straySilent
}

// read splits a line into its members. It stops early at read requests, because the lists in their responses are long.
func (v *envelope) read(p *parser, line []byte) error {
	short := false
	err := members(line, func(key, value []byte) bool {
		switch string(key) {
		case "kind":
			v.kind = value
		case "apiVersion":
			v.apiVersion = value
		case "stage":
			v.stage = value
		case "auditID":
			v.id = value
		case "verb":
			v.verb = p.names.text(value)
		case "requestURI":
			v.uri = value
		case "user":
			v.user = value
		case "impersonatedUser":
			v.impersonated = value
		case "userAgent":
			v.agent = value
		case "objectRef":
			v.object = value
		case "responseStatus":
			v.status = value
			short = !writes[v.verb] && v.apiVersion != nil && v.stage != nil
			return !short
		case "requestObject":
			v.request = value
		case "responseObject":
			v.response = value
		case "stageTimestamp":
			v.staged = value
		case "annotations":
			v.watched = bytes.Contains(value, []byte(`"threelaws.example/from":"watch"`))
		}
		return true
	})
	if short {
		v.staged = lastStamp(line)
	}
	return err
}

func lastStamp(line []byte) []byte {
	key := []byte(`"stageTimestamp":`)
	i := bytes.LastIndex(line, key)
	if i < 0 {
		return nil
	}
	from := i + len(key)
	end := skip(line, from)
	if end < 0 {
		return nil
	}
	return line[space(line, from):end]
}

// event makes an event from the members of a line. It returns nil if the line is not relevant.
func (p *parser) event(v *envelope) *event {
	write := writes[v.verb]
	if v.object == nil || !write && !reads[v.verb] {
		return nil
	}
	e := &event{verb: v.verb, agent: p.names.text(v.agent), id: maphash.Bytes(seed, v.id)}
	if v.id == nil {
		e.id = 0
	}
	e.at, _ = time.Parse(time.RFC3339Nano, text(v.staged))
	p.objectRef(e, v.object)
	if passedOver[e.place.resource] || e.sub == "token" {
		return nil
	}
	who := v.user
	if v.impersonated != nil {
		who = v.impersonated
	}
	_ = members(who, func(key, value []byte) bool {
		if string(key) == "username" {
			e.user = p.names.text(value)
			return false
		}
		return true
	})
	_ = members(v.status, func(key, value []byte) bool {
		switch string(key) {
		case "code":
			e.code = int(number(value))
		case "reason":
			e.reason = p.names.text(value)
		case "message":
			e.message = text(value)
		}
		return true
	})
	if !write {
		return e
	}
	uri := text(v.uri)
	if _, query, ok := strings.Cut(uri, "?"); ok {
		e.uri = query
	}
	if strings.Contains(e.uri, "dryRun=") {
		return nil
	}
	p.bodies(e, v)
	return e
}

func (p *parser) objectRef(e *event, b []byte) {
	_ = members(b, func(key, value []byte) bool {
		switch string(key) {
		case "resource":
			e.place.resource = p.names.text(value)
		case "namespace":
			e.place.namespace = p.names.text(value)
		case "name":
			e.place.name = text(value)
		case "uid":
			e.uid = text(value)
		case "apiGroup":
			e.place.group = p.names.text(value)
		case "subresource":
			e.sub = p.names.text(value)
		}
		return true
	})
}

// String formats a place: "t/pods/web-1".
func (p place) String() string {
	if p.namespace == "" {
		return fmt.Sprintf("%s/%s", p.resource, p.name)
	}
	return fmt.Sprintf("%s/%s/%s", p.namespace, p.resource, p.name)
}

type request struct {
	version    string // the resource version in the request; "" if there is none
	uid        bool
	owners     bool   // the request contains owner references
	text       string // the body of a patch that contains owner references
	labels     bool
	finalizers bool
	applies    bool   // the request is a server-side apply
	replicas   string // the replicas in a Scale
	known      bool   // the request body is in the log
	watched    bool   // the audit event was made from a watch event, so the request's preconditions are unknown
	body       bool   // the request contains more than metadata and status
}

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
			e.after.ResourceVersion = "" // a request body contains the version before the write
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

// speaksOfBody reports whether a JSON patch changes anything except metadata and status.
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
