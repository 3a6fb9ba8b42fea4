package keeper_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/threelaws/threelaws/agent"

	"example.com/keeper"
)

func TestOperator(t *testing.T) {
	agent.Test(t, agent.Subject{
		Run: func(ctx context.Context, p *agent.Process) error {
			k := keeper.Keeper{API: p.Host, HTTP: &http.Client{Transport: p.Transport}, Sleep: time.Second}
			return k.Run(ctx)
		},
		Samples:   []string{"testdata/sample.yaml"},
		Schedules: 5,
	})
}
