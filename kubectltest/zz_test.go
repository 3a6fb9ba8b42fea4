package kubectltest

import "slices"

func noValidate(args []string) []string {
	if slices.Contains(args, "-f") && slices.Contains([]string{"create", "apply", "replace"}, args[0]) && !slices.ContainsFunc(args, func(s string) bool { return len(s) > 10 && s[:10] == "--validate" }) {
		return append(slices.Clone(args), "--validate=false")
	}
	return args
}
