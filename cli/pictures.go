package cli

import (
	"github.com/threelaws/threelaws/internal/page"
)

// picture prints a run as a page or as a picture; with --json as a string.
func picture(a *app, as, title string, src page.Source) error {
	src.Replay = a.name + " replay " + argument(title)
	p := page.Of(title, src)
	if as == "svg" {
		if a.json {
			return a.encode(drawn{SVG: string(p.SVG())})
		}
		_, err := a.out.Write(p.SVG())
		return err
	}
	text, err := p.HTML()
	if err != nil {
		return err
	}
	if a.json {
		return a.encode(drawn{HTML: string(text)})
	}
	_, err = a.out.Write(text)
	return err
}
