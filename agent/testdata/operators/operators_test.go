package operators_test

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/agent"

	"example.com/operators"
)

func hold(t *testing.T, run func(ctx context.Context, cfg *rest.Config) error) {
	agent.Test(t, agent.Subject{
		Run: func(ctx context.Context, p *agent.Process) error {
			return run(ctx, &rest.Config{Host: p.Host, Transport: p.Transport, QPS: -1})
		},
		Samples:   []string{"testdata/sample.yaml"},
		Schedules: 5,
	})
}

func TestRight(t *testing.T) {
	t.Run("informers", func(t *testing.T) {
		hold(t, func(ctx context.Context, cfg *rest.Config) error { return operators.Informers(ctx, cfg, false) })
	})
	t.Run("manager", func(t *testing.T) {
		hold(t, func(ctx context.Context, cfg *rest.Config) error { return operators.Manager(ctx, cfg, false, false) })
	})
	t.Run("unique", func(t *testing.T) {
		hold(t, func(ctx context.Context, cfg *rest.Config) error { return operators.Manager(ctx, cfg, false, true) })
	})
}

func TestWrong(t *testing.T) {
	t.Run("informers", func(t *testing.T) {
		hold(t, func(ctx context.Context, cfg *rest.Config) error { return operators.Informers(ctx, cfg, true) })
	})
	t.Run("manager", func(t *testing.T) {
		hold(t, func(ctx context.Context, cfg *rest.Config) error { return operators.Manager(ctx, cfg, true, false) })
	})
}
