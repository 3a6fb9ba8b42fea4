package audit

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
	"time"
)

// event is the relevant part of one log line: a write, a read, or a refusal. Its strings are copies; it keeps nothing
// of the line.
type event struct {
	at          time.Time // when its stage was reached
	order       uint64    // the sort key: the resource version that it made, or one near it
	user, agent string
	verb        string
	uri         string // the query of the request only
	place       place
	sub         string // the subresource
	uid         string // of objectRef
	code        int
	reason      string
	message     string
	id          uint64 // a digest of the audit ID
	doubt       bool   // a line was lost here, and its object is unknown
	bodiless    bool   // a write whose body the policy or a truncation removed

	asked request
	after *Object   // of the response
	items []*Object // of the response to deletecollection
}

// place identifies an object of the API.
type place struct{ group, resource, namespace, name string }

// stray is the reason why a line is skipped.
type stray string

// The reasons why lines are skipped, by the names under which they are counted.
const (
	straySilent  stray = ""
	strayBroken  stray = "lines cut short, or no JSON"
	strayForeign stray = "lines that are no audit.k8s.io/v1 events"
	strayStage   stray = "events of a stage before the response"
)

// reads and writes are the verbs that are processed.
var reads = map[string]bool{"get": true, "list": true, "watch": true}
var writes = map[string]bool{"create": true, "update": true, "patch": true, "delete": true, "deletecollection": true}

// passedOver are resources that nobody owns, that are contested by design, or that are queries.
var passedOver = map[string]bool{"events": true, "leases": true, "tokenreviews": true, "subjectaccessreviews": true,
	"selfsubjectaccessreviews": true, "localsubjectaccessreviews": true, "selfsubjectrulesreviews": true,
	"selfsubjectreviews": true}

// parser reads lines. Only one goroutine may use it.
type parser struct {
	names names
}

// envelope is a line before it is decoded.
type envelope struct {
	kind, apiVersion, stage, id, user, impersonated, agent, object, status, request, response, staged []byte
	verb                                                                                              string
	uri                                                                                               []byte
	watched                                                                                           bool
}

// parse reads a line. For a skipped line it returns a nil event and the reason. For a broken line it returns what is
// readable, if that identifies the object.
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

// read splits a line. It skips read events early: it does not walk through the lists that fill a log.
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

// lastStamp finds the stage timestamp, from the end of the line.
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

// event makes an event from a line; nil if nothing in it is relevant.
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
