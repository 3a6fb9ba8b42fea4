package main

import (
	"strings"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/explore"
)

// scheduleOf reads a section that was checked to be a schedule: the version,
// then one decision a line.
func scheduleOf(s *scenarios.Section) (explore.Schedule, error) {
	var keys []string
	for line := range strings.Lines(s.Body) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && line != scenarios.ScheduleVersion {
			keys = append(keys, line)
		}
	}
	return explore.ParseSchedule(keys)
}
