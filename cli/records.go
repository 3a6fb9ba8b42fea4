package cli

import (
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// recordJSON is one record of a history, with its objects in full.
type recordJSON struct {
	Index       int        `json:"index"`
	Step        int        `json:"step"`
	At          string     `json:"at"` // virtual time since the start of the world
	Op          string     `json:"op"`
	Cause       int        `json:"cause"` // index; -1 for none
	Process     string     `json:"process,omitempty"`
	Era         string     `json:"era,omitempty"`
	Incarnation int        `json:"incarnation,omitempty"`
	Worker      int        `json:"worker,omitempty"`
	For         *refJSON   `json:"for,omitempty"`
	Verb        string     `json:"verb,omitempty"`
	Subresource string     `json:"subresource,omitempty"`
	Object      *refJSON   `json:"object,omitempty"`
	Version     uint64     `json:"version,omitempty"`
	Guards      *guardJSON `json:"guards,omitempty"`
	Code        int        `json:"code,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Message     string     `json:"message,omitempty"`
	Initial     bool       `json:"initial,omitempty"`
	Tombstone   bool       `json:"tombstone,omitempty"`
	Stale       bool       `json:"stale,omitempty"`
	Lost        bool       `json:"lost,omitempty"`
	Enqueued    []string   `json:"enqueued,omitempty"`
	Observed    []string   `json:"observed,omitempty"`
	Before      any        `json:"before,omitempty"`
	After       any        `json:"after,omitempty"`
	Saw         any        `json:"saw,omitempty"`    // the version of the object that the actor had read
	SawFor      any        `json:"sawFor,omitempty"` // the version of the object being synced
}

type refJSON struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

type guardJSON struct {
	UID             bool `json:"uid"`
	ResourceVersion bool `json:"resourceVersion"`
}

// records prints a history, one record a line.
func records(c *console, h *sim.History) error {
	for i := range h.Records {
		if err := c.line(recordOf(&h.Records[i])); err != nil {
			return err
		}
	}
	return nil
}

func recordOf(r *sim.Record) *recordJSON {
	j := &recordJSON{Index: r.Index, Step: r.Step, At: r.At.String(), Op: render.OpName(r.Op), Cause: r.Cause,
		Process: r.Process, Era: r.Era, Incarnation: r.Incarnation, Worker: r.Worker,
		For: refOf(r.For), Verb: r.Verb, Subresource: r.Subresource, Object: refOf(r.Object), Version: r.Version,
		Code: r.Code, Reason: r.Reason, Message: r.Message, Initial: r.Initial, Tombstone: r.Tombstone,
		Stale: r.Stale(), Lost: r.Lost, Enqueued: r.Enqueued, Observed: r.Observed,
		Before: r.Before, After: r.After, Saw: r.Saw, SawFor: r.SawFor}
	if r.Guards != (sim.Guards{}) {
		j.Guards = &guardJSON{r.Guards.UID, r.Guards.ResourceVersion}
	}
	return j
}

func refOf(r sim.Ref) *refJSON {
	if r == (sim.Ref{}) {
		return nil
	}
	return &refJSON{r.Kind, r.Namespace, r.Name, r.UID}
}
