// Package campaign stores the results of explorations that are divided among machines. It defines the result file of a
// shard, continues a killed shard, and merges results.
//
// A result file has one JSON object per line. The first line is a [Head] with the world and the settings. Each further
// line is a [Record], which adds to the result. A shard writes a record at least once a minute, so a killed shard loses
// at most one minute. A merge adds the records of several files in any order, and gives a result file.
//
// The package has no types for worlds and schedules. It describes an exploration by numbers, ranges and texts.
package campaign
