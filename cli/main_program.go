package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// hostsMain gives a command the flag --main: the main package of an operator is built and hosted as check does it, and
// scenario files name it as a controller.
func (a *app) hostsMain(cmd *cobra.Command) *cobra.Command {
	var pkg string
	cmd.Flags().StringVar(&pkg, "main", "",
		"build and host this main package of an operator; files name it as a controller by the operator's name")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if pkg == "" {
			return run(cmd, args)
		}
		find := a.operators
		if find == nil {
			find = findOperator
		}
		op, err := find(cmd.Context(), &settings{Dir: repository(), Package: pkg})
		if err != nil {
			return err
		}
		if op.Close != nil {
			defer op.Close()
		}
		made, err := op.Host(cmd.Context())
		if err != nil {
			return err
		}
		g := *a.registry
		if slices.ContainsFunc(g.Controllers, func(c host.Controller) bool { return c.Name == op.Name }) {
			return usage("--main %s: the operator is named %s, as a controller of threelaws is", pkg, op.Name)
		}
		g.Controllers = append(slices.Clone(g.Controllers), made(host.Controller{Name: op.Name}))
		g.Server = &fakeapi.Options{WebhooksLater: true}
		a.registry = &g
		return run(cmd, args)
	}
	return cmd
}
