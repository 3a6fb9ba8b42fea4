package keeper_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/agent"

	"example.com/keeper"
)

// subject returns a Subject that runs k.
func subject(k keeper.Keeper) agent.Subject {
	return agent.Subject{
		Run: func(ctx context.Context, p *agent.Process) error {
			k.API, k.HTTP, k.Sleep = p.Host, &http.Client{Transport: p.Transport}, time.Second
			return k.Run(ctx)
		},
		Samples:   []string{"testdata/sample.yaml"},
		Schedules: 5,
	}
}

func TestKeeper(t *testing.T) {
	t.Parallel()
	s := subject(keeper.Keeper{})
	settled := 0
	s.Settled = func(p *agent.Process) error {
		settled++
		_, err := secrets(p)
		return err
	}
	agent.Test(t, s)
	t.Logf("Settled was called: %t", settled > 0)
}

// secrets checks that a write is refused, and then lists the names of Secrets.
func secrets(p *agent.Process) ([]string, error) {
	client := &http.Client{Transport: p.Transport}
	resp, err := client.Post(p.Host+"/api/v1/namespaces/default/secrets", "application/json", strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		return nil, fmt.Errorf("a write was answered %s", resp.Status)
	}
	resp, err = client.Get(p.Host + "/api/v1/namespaces/default/secrets")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list struct {
		Items []struct{ Metadata struct{ Name string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		return nil, err
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Metadata.Name)
	}
	return names, nil
}

// TestSettled has functions Settled that fail.
func TestSettled(t *testing.T) {
	for name, settled := range map[string]func(*agent.Process) error{
		"error": func(p *agent.Process) error {
			if names, err := secrets(p); err != nil || len(names) > 1 {
				return fmt.Errorf("at most one Secret, not %q (%v)", names, err)
			}
			return nil
		},
		"panic": func(*agent.Process) error { panic("no such shard") },
		"fatal": func(*agent.Process) error { t.FailNow(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := subject(keeper.Keeper{})
			s.Settled, s.Schedules, s.Skip = settled, 1, map[string]string{}
			for _, c := range strings.Fields("faults two-instances new-owner orphan somebody-elses dependent-deleted name-taken " +
				"reference-taken-away deleted/orphan recreated/background recreated/foreground recreated/orphan held terminating") {
				s.Skip[c] = "two-owners fails in the same way"
			}
			agent.Test(t, s)
		})
	}
}

// TestWrong runs operators with bugs.
func TestWrong(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		agent.Test(t, subject(keeper.Keeper{Once: true}))
	})
	t.Run("fatal", func(t *testing.T) {
		s := subject(keeper.Keeper{})
		s.Run = func(context.Context, *agent.Process) error {
			t.Fatal("there is no certificate")
			return nil
		}
		agent.Test(t, s)
	})
}

// TestKnown runs an operator whose bug is accepted.
func TestKnown(t *testing.T) {
	s := subject(keeper.Keeper{Once: true})
	s.Accept = []agent.Accept{{Law: "exact-sum", Reason: "issue 12"},
		{Law: "never-fight", Reason: "it is fixed"}}
	s.Skip = map[string]string{"faults": "it is slow"}
	agent.Test(t, s)
}

// TestMistake runs wrong Subjects.
func TestMistake(t *testing.T) {
	t.Run("no Run", func(t *testing.T) { agent.Test(t, agent.Subject{}) })
	t.Run("no file", func(t *testing.T) {
		s := subject(keeper.Keeper{})
		s.Samples = []string{"testdata/nowhere.yaml"}
		agent.Test(t, s)
	})
	t.Run("no CRDs", func(t *testing.T) {
		s := subject(keeper.Keeper{})
		s.CRDs = os.DirFS("nowhere")
		agent.Test(t, s)
	})
	t.Run("no case", func(t *testing.T) {
		s := subject(keeper.Keeper{})
		s.Skip = map[string]string{"fault": "it is slow"}
		agent.Test(t, s)
	})
	t.Run("no sample", func(t *testing.T) {
		s := subject(keeper.Keeper{})
		s.Samples = nil
		agent.Test(t, s)
	})
}
