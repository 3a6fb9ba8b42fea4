package cli

import (
	"errors"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/scenarios"
)

func testCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "test [GO TEST FLAGS] [PACKAGES]",
		Short: "run go test with the overlay",
		Long: `Runs "go test" of the module in the working directory, with the overlay that "threelaws
overlay" prints. All arguments go to go test. In the tests, bubbles of
testing/synctest repeat maps, selects and random numbers, and agent.Test finds this
command. go vet does not know the overlay, and is left out.`,
		Example:            "  threelaws test ./...\n  threelaws test -run TestOperator -v ./internal/controller",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
				return cmd.Help()
			}
			cache, err := cacheDir()
			if err != nil {
				return err
			}
			own, err := os.Executable()
			if err != nil {
				return usage("test: %v", err)
			}
			test, err := overlay.Test(cmd.Context(), ".", cache, args)
			if err != nil {
				return usage("test: %v", err)
			}
			test.Env = append(test.Env, "THREELAWS="+own)
			test.Stdin, test.Stdout, test.Stderr = os.Stdin, a.out, a.err
			err = test.Run()
			if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
				a.code = scenarios.ExitFail // go test has said why
				return nil
			}
			return err
		},
	}
}
