// Package v1 stands in for the real one.
package v1

import "time"

type Time struct{ time.Time }

func Now() Time                { return Time{} }
func NewTime(t time.Time) Time { return Time{t} }
