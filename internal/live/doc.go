// Package live feeds the page of a world that is running: a [Feed] is shown the world from
// time to time, keeps the run of its last records, and tells each reader what came since
// he was told last, as server-sent events.
//
// Nothing is done while nobody reads. The world is held up for as long as it takes to copy
// what it has recorded since; what is made of that, and how slowly somebody reads, is
// none of its business.
package live
