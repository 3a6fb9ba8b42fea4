package keeper_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/threelaws/threelaws/agent"

	"example.com/keeper"
)

func TestKeeper(t *testing.T) { hold(t, keeper.Keeper{}) }

func TestAdopts(t *testing.T) { hold(t, keeper.Keeper{Adopts: true}) }

func hold(t *testing.T, k keeper.Keeper) {
	agent.Test(t, agent.Subject{
		Run: func(ctx context.Context, p *agent.Process) error {
			k.API, k.HTTP, k.Sleep = p.Host, &http.Client{Transport: p.Transport}, time.Second
			return k.Run(ctx)
		},
		Samples:   []string{"sample.yaml"},
		Schedules: 10,
	})
}
