// Package live feeds the page of a running world. A [Feed] reads the world from time to time and keeps the run of its
// last records. It sends each reader what is new to that reader, as server-sent events.
//
// Nothing is done without readers. The world stops only while its new records are copied; slow readers do not delay it.
package live
