package keeper_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/threelaws/threelaws/agent"

	"example.com/keeper"
)

// subject keeps Secrets.
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
	agent.Test(t, subject(keeper.Keeper{}))
}

// Operators that are wrong.
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

// An operator that is wrong in a known way.
func TestKnown(t *testing.T) {
	s := subject(keeper.Keeper{Once: true})
	s.Accept = []agent.Accept{{Law: "exact-sum", Reason: "issue 12"},
		{Law: "never-fight", Reason: "it is fixed"}}
	s.Skip = map[string]string{"faults": "it is slow"}
	agent.Test(t, s)
}

// Subjects that are wrong.
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
