package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/clusterwatch"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
)

type watching struct {
	kubeconfig, context string
	namespace           string
	kinds               []string
	once                bool
	lasts               time.Duration
	patience, stuck     time.Duration
	output, record      string
}

func watchCommand(a *app) *cobra.Command {
	w := &watching{}
	cmd := &cobra.Command{
		Use:   "watch [flags]",
		Short: "watch a running cluster, and report problems of ownership",
		Long: `Lists and watches the objects of a cluster of version 1.28 or later. It prints each
problem once, with its history:

  fight           several programs change the same value back and forth: a field, an object,
                  its owner and labels, or a number of objects
  takeover        an object of one controller gets another controller
  second-thought  an object loses its controller and gets the same controller back
  stuck           a deleted object still exists after a long time
  orphan          a controller created the object, but the object has no owner, and no
                  other object selects it
  lost-owner      an owner reference to an object that does not exist
  foreign-owner   an owner reference to an object in another namespace

If a fight continues, it is printed again each time the number of its cycles has doubled.
watch reads the writer of a field from metadata.managedFields. The program that deleted an
object is unknown. To find it, use "threelaws judge" with an audit log. watch writes nothing
to the cluster. docs/use/watch.md has the role that it needs.

The exit code is 1 if there is a problem.`,
		Example: `  threelaws watch --kubeconfig three.kubeconfig
  threelaws watch --once -n shop
  threelaws watch --kinds pods,replicasets.apps --for 10m --record history.log`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return w.run(cmd.Context(), a) },
	}
	f := cmd.Flags()
	f.StringVar(&w.kubeconfig, "kubeconfig", "", "the kubeconfig file; by default the one that kubectl uses, or the pod's service account")
	f.StringVar(&w.context, "context", "", "the context of the kubeconfig")
	f.StringVarP(&w.namespace, "namespace", "n", "", "watch only this namespace")
	f.StringSliceVar(&w.kinds, "kinds", nil, "watch only these kinds: pods,deployments.apps; by default all except events, "+
		"leases and secrets")
	f.BoolVar(&w.once, "once", false, "check the current state, and end")
	f.DurationVar(&w.lasts, "for", 0, "end after this time")
	f.DurationVar(&w.patience, "patience", 30*time.Second,
		"how long a problem must last if the garbage collector or an adopter may fix it")
	f.DurationVar(&w.stuck, "stuck-after", 5*time.Minute, "time after which a deleted object counts as stuck")
	f.StringVarP(&w.output, "output", "o", "text", "text, or json: one line for each finding")
	f.StringVar(&w.record, "record", "", "write the observed changes to this file, as an audit log for judge")
	complete(cmd, "output", completeWords("text", "json"))
	return cmd
}

func (w *watching) run(ctx context.Context, a *app) error {
	if err := oneOf("output", w.output, "text", "json"); err != nil {
		return err
	}
	switch {
	case w.patience <= 0, w.stuck <= 0, w.lasts < 0:
		return usage("--patience, --stuck-after and --for are times, as 30s")
	case w.once && w.lasts > 0:
		return usage("--once and --for exclude each other")
	}
	config, err := clusterwatch.Load(w.kubeconfig, w.context)
	if err != nil {
		return usage("watch: %v", err)
	}
	r, err := clusterwatch.NewReader(config)
	if err != nil {
		return usage("--kubeconfig: %v", err)
	}
	t := &telling{a: a, json: a.json || w.output == "json"}
	r.Namespace, r.Kinds, r.Note = w.namespace, w.kinds, t.note
	o := clusterwatch.Options{Patience: w.patience, Stuck: w.stuck, Tell: t.finding}
	if w.record != "" {
		file, err := os.OpenFile(w.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return usage("--record: %s exists, and is not overwritten", w.record)
		} else if err != nil {
			return usage("--record: %v", err)
		}
		defer file.Close()
		o.Record = &clusterwatch.Record{To: file}
	}
	return w.look(ctx, a, r, clusterwatch.NewCluster(o), t)
}

func (w *watching) look(ctx context.Context, a *app, r *clusterwatch.Reader, c *clusterwatch.Cluster, t *telling) error {
	end := time.Time{}
	if w.lasts > 0 {
		end = time.Now().Add(w.lasts)
	}
	err := r.Run(ctx, c, func() bool {
		if !w.once && !t.begun && c.Synced() {
			t.begun = true
			t.begin(c)
		}
		return w.once && !c.Pending() || !end.IsZero() && time.Now().After(end)
	})
	if unknown := (*clusterwatch.Unknown)(nil); errors.As(err, &unknown) {
		return usage("--kinds: %v%s", unknown, suggest(unknown.Kind, unknown.There))
	}
	if err == nil && c.Record != nil {
		err = c.Record.Err
	}
	if err != nil {
		return usage("watch: %v", err)
	}
	switch {
	case c.Told() > 0:
		a.code = scenarios.ExitFail
	case ctx.Err() != nil:
		a.code = exitInterrupted
	}
	t.end(c)
	return nil
}

// telling prints the findings of watch. It may be used by several goroutines.
type telling struct {
	a     *app
	json  bool
	begun bool
	mu    sync.Mutex
	notes []string
}

func (t *telling) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.notes, text) {
		return
	}
	t.notes = append(t.notes, text)
	if t.json {
		_ = t.a.line(watchLine{Event: "note", Text: text})
		return
	}
	fmt.Fprintln(t.a.err, render.Plain(strings.TrimSpace(text)))
}

func (t *telling) finding(f clusterwatch.Finding) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		_ = t.a.line(watchLine{Event: "finding", Finding: &f})
		return
	}
	t.a.print(f.Page(t.a.width))
}

func (t *telling) begin(c *clusterwatch.Cluster) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		_ = t.a.line(watchLine{Event: "watching", Objects: c.Len()})
		return
	}
	t.a.printf("watching %s\n", plural(c.Len(), "object"))
}

func (t *telling) end(c *clusterwatch.Cluster) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.json {
		_ = t.a.line(watchLine{Event: "end", Objects: c.Len(), Findings: c.Told(), ExitCode: t.a.code})
		return
	}
	verdict := "nothing is wrong"
	switch n := c.Told(); {
	case n > 0:
		verdict = plural(n, "finding")
	case c.Len() == 0:
		verdict = "there was nothing to look at"
	}
	t.a.printf("%s: %s\n", plural(c.Len(), "object"), verdict)
}

type watchLine struct {
	Event string `json:"event"` // "watching", "finding", "note" or "end"
	*clusterwatch.Finding
	Text     string `json:"text,omitempty"`
	Objects  int    `json:"objects,omitempty"` // the number of objects, in the events "watching" and "end"
	Findings int    `json:"findings,omitempty"`
	ExitCode int    `json:"exitCode"`
}
