package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const modified = "the object has been modified; please apply your changes to the latest version and try again"

// refuse returns an error. Errors that are no API status become a 500 with their text, as on the real server.
func refuse(err error) Response {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		status = &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
			Reason: metav1.StatusReasonUnknown, Message: err.Error(),
		}}
	}
	return Response{Err: status, Code: int(status.ErrStatus.Code)}
}

// mostTries limits the attempts of a write whose object changes during each webhook call. The real server retries for
// 34 seconds.
const mostTries = 10

func errOutOfTime() error {
	return apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded", 0)
}

func (s *Server) errNotServed(req *Request) error {
	if req.Kind == nil {
		return apierrors.NewBadRequest(s.kindless())
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the kind %s is not served", req.Kind.GVK.Kind))
}

// kindless explains why a request has no kind. Usually the last KindNamed returned nil.
func (s *Server) kindless() string {
	if s.missed == "" {
		return "the request names no kind: its Kind is nil"
	}
	text := fmt.Sprintf("the request names no kind: its Kind is nil, and the server has no kind %s", s.missed)
	if n := s.NearestKind(s.missed); n != "" {
		text += "; did you mean " + n + "?"
	}
	return text
}

func errMethod(req *Request) error {
	return apierrors.NewMethodNotSupported(req.Kind.groupResource(), string(req.Verb))
}

func (c *call) errNotFound(name string) error {
	return apierrors.NewNotFound(c.req.Kind.groupResource(), name)
}

func errNoSubresource() error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, true)
}

func (c *call) errConflict(name, why string) error {
	return apierrors.NewConflict(c.req.Kind.groupResource(), name, errors.New(why))
}

func (c *call) errInvalid(name string, errs field.ErrorList) error {
	kind := c.k.GVK.GroupKind()
	if v := c.k.row.View; v != nil {
		kind = v.Stored.GVK.GroupKind() // that is what the real server has in its hands
	}
	return apierrors.NewInvalid(kind, name, sorted(errs))
}

func errOptions(kind string, errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// sorted puts errors about labels and annotations in a fixed order, keys first. apimachinery's validation ranges over
// maps.
func sorted(errs field.ErrorList) field.ErrorList {
	label := func(e *field.Error) bool { return strings.HasPrefix(e.Origin, "format=k8s-label") }
	for i := 1; i < len(errs); i++ {
		for j := i; j > 0 && label(errs[j]) && label(errs[j-1]) && errs[j].Field == errs[j-1].Field &&
			about(errs[j]) < about(errs[j-1]); j-- {
			errs[j], errs[j-1] = errs[j-1], errs[j]
		}
	}
	return errs
}

// about returns the sort key of an error.
func about(err *field.Error) string { return fmt.Sprint(err.Origin, err.BadValue) }

// errRedefined is the error of a write whose kind changed during a webhook call.
func (c *call) errRedefined() error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("the definition of %s has changed while a webhook was called; "+
		"please try again", c.k.groupResource()))
}

// errUnlisted is the error of a list or a watch while some object cannot be converted. On the real server the cache
// of that version does not start.
func errUnlisted(k *Kind, err error) error {
	text := fmt.Sprintf("storage is (re)initializing: failed to list %v: %v", k.GVK, err)
	return apierrors.NewTooManyRequests(text, 1)
}

// Since returns the changes to a kind after a revision, oldest first, or 410 Expired if they were compacted away.
func (s *Server) Since(k *Kind, version uint64) ([]Event, error) {
	t := s.tables[k.ordinal]
	if version < t.compacted {
		return nil, errTooOld(version, t.compacted)
	}
	n := 0
	for c := t.log; c != nil && c.ev[0].Version > version; c = c.prev {
		n++
	}
	if n == 0 {
		return nil, nil
	}
	if n == 1 {
		return t.log.ev[:1:1], nil
	}
	events := make([]Event, n)
	for c := t.log; n > 0; c = c.prev {
		n--
		events[n] = c.ev[0]
	}
	return events, nil
}

func errTooOld(version, oldest uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, oldest))
}

// SnapshotAt returns the objects of a kind as they were at a revision, in key order. It fails with 410 Expired if that
// revision was compacted away.
func (s *Server) SnapshotAt(k *Kind, version uint64) ([]runtime.Object, error) {
	t := s.tables[k.ordinal]
	if version < t.compacted {
		return nil, errTooOld(version, t.compacted)
	}
	entries := t.at(version)
	objects := make([]runtime.Object, len(entries))
	for i, e := range entries {
		objects[i] = e.obj
	}
	return objects, nil
}

// at returns the entries as they were at a revision, by undoing the changes since.
func (t *table) at(version uint64) []*entry {
	view := t.objects
	if t.log != nil && t.log.ev[0].Version > version {
		t.copies.Lock()
		view = t.objects.Clone()
		t.copies.Unlock()
	}
	for c := t.log; c != nil && c.ev[0].Version > version; c = c.prev {
		if ev := &c.ev[0]; ev.Before == nil {
			view.Delete(&entry{key: ev.Key})
		} else {
			view.ReplaceOrInsert(newEntry(ev.Key, ev.Before))
		}
	}
	entries := make([]*entry, 0, view.Len())
	view.Ascend(func(e *entry) bool {
		entries = append(entries, e)
		return true
	})
	return entries
}

// Oldest is the oldest revision of a kind at which a list or a watch can start.
func (s *Server) Oldest(k *Kind) uint64 { return s.tables[k.ordinal].compacted }

// Compact forgets changes up to and including a revision, for removed kinds too. Watches and snapshots can start at
// that revision or later.
func (s *Server) Compact(version uint64) {
	version = min(version, s.version)
	for i := range s.tables {
		t := s.writable(s.tables[i].kind)
		if version <= t.compacted {
			continue
		}
		t.compacted = version
		t.log = t.log.after(version)
	}
}

// ForgetNames forgets the names of objects that were gone at a revision, to bound memory. Uids and generated names
// stay unique, but differ from those of a server that remembers.
func (s *Server) ForgetNames(version uint64) {
	for i := range s.tables {
		t := s.writable(s.tables[i].kind)
		t.most.past = max(t.most.past, forget(t.past, version))
		t.most.made = max(t.most.made, forget(t.made, version))
	}
}

// after copies the changes after a revision, because a fork may share them.
func (c *change) after(version uint64) *change {
	if c == nil || c.ev[0].Version <= version {
		return nil
	}
	first := &change{ev: c.ev}
	for last := first; ; last = last.prev {
		c = c.prev
		if c == nil || c.ev[0].Version <= version {
			return first
		}
		last.prev = &change{ev: c.ev}
	}
}
