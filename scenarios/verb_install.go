package scenarios

var verbInstall = &Verb{
	Name: "install", Args: "PATH...", Min: 1, Max: -1,
	Summary: "let objects exist before anything happens",
	Detail: `PATH is a section, or a directory of sections. Where the file has none, it is a file or a
directory next to it, of which the CustomResourceDefinitions are read, as define reads them.
The objects exist when a world begins. It is prepared once for all schedules, so that large
definitions cost no time in each. A minimized failure keeps them, and names the files.
Only schedule and judge may stand above install.`,
	Example:  "install config/crd/bases\ncontrollers widget\napply world.yaml",
	installs: true,
	check:    checkInstall,
	run:      func(*Run, *Step) error { return nil }, // newRun has already created them
}

func checkInstall(c *checker, s *Step) error {
	for _, before := range c.file.Steps {
		if before == s {
			break
		}
		if v := before.verb; !v.installs && !v.judges && v != verbSchedule {
			return s.wrong("%s stands above it, on line %d: what is installed exists before anything happens", v.Name,
				before.Line)
		}
	}
	var all []*section
	for _, name := range s.Words() {
		secs, err := c.file.definitions(s, name)
		if err != nil {
			return err
		}
		for _, sec := range secs {
			sec.read, sec.installed, sec.only = true, true, sec.origin != ""
			all = append(all, sec)
		}
	}
	var err error
	if c.file.base, err = c.file.install(c.file.base, c.registry, all); err != nil {
		return err
	}
	c.server = c.file.base.fork()
	c.file.server = c.server
	return nil
}
