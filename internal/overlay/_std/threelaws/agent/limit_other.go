//go:build !linux

package agent

func limit() {}
