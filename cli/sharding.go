package cli

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/internal/campaign"
)

// saveEvery is the interval at which result files are written. Tests make it shorter.
var saveEvery = 15 * time.Second

// sharding contains the flags of commands that can run a part of a campaign: an exploration on several machines.
type sharding struct {
	shard   string
	results string
	Part    campaign.Shard
}

func (s *sharding) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&s.shard, "shard", "", "do one part of the work: i/n, where i counts from 0")
	fl.StringVar(&s.results, "results", "", "write results to this folder, for merge; a killed shard can continue from them")
	complete(cmd, "results", completeDirs)
}

// divided reports whether the command runs a part of a campaign, or writes its results for merge.
func (s *sharding) divided() bool { return s.results != "" || s.Part.N > 1 }

func (s *sharding) check() error {
	var err error
	if s.Part, err = campaign.ParseShard(s.shard); err != nil {
		return usage("--shard: %v", err)
	}
	if s.results == "" {
		return nil
	}
	// Without this check, each world would report that its results cannot be written.
	if err = os.MkdirAll(s.results, 0o755); err != nil {
		return usage("--results: %v", err)
	}
	f, err := os.CreateTemp(s.results, ".threelaws-")
	if err == nil {
		_, err = f.WriteString("\n")
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return usage("--results: %v", err)
	}
	return nil
}
