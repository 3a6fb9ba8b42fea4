// Package campaign holds the results of explorations that are divided among machines: what one shard writes to a file,
// how a killed shard continues, and how results are merged.
//
// A result file has JSON lines. A [Head] names the world and the settings. Every [Record] after it adds to the result.
// A record is written at least once a minute, so a killed shard loses at most that. Merging adds records, in any order
// and any grouping, so it is associative, and the merged file is a result file as well.
//
// The package knows no world and no schedule: an exploration is numbers, ranges and texts here.
package campaign
