package cli

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
)

// withoutPlugins reads the flags --enable-admission-plugins and --disable-admission-plugins: the
// names of the plugins that are off.
func withoutPlugins(on, off []string) ([]string, error) {
	has, others := fakeapi.Plugins(), fakeapi.OtherPlugins()
	known := slices.Concat(has, others)
	for _, name := range off {
		if !slices.Contains(known, name) {
			return nil, usage("--disable-admission-plugins: %s is unknown%s", name, suggest(name, known))
		}
	}
	for _, name := range on {
		switch {
		case !slices.Contains(known, name):
			return nil, usage("--enable-admission-plugins: %s is unknown%s", name, suggest(name, known))
		case slices.Contains(off, name):
			return nil, usage("--enable-admission-plugins: %s is in --disable-admission-plugins, too", name)
		case !slices.Contains(has, name):
			return nil, usage("--enable-admission-plugins: %s is not modelled; this server has the plugins %v", name, has)
		}
	}
	return off, nil
}
