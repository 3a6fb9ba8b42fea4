package scenarios

var verbDefine = &Verb{
	Name: "define", Args: "PATH...", Min: 1, Max: -1,
	Summary: "define the kinds of CustomResourceDefinitions",
	Detail: `PATH is a section, or a directory of sections; where the file has none, a file
or a directory next to it, such as config/crd/bases. Of a directory the .yaml, .yml
and .json files count, and of these the CustomResourceDefinitions; anything else
is passed over. A file written from a failure holds the definitions it needs.
Definitions may as well stand among the manifests that apply sends. A kind must
be defined before a step names it and before a controller of it is started.`,
	Example: "define config/crd/bases\ncontrollers widget\napply world.yaml",
	acts:    true,
	sends:   true,
	check: func(c *checker, s *Step) error {
		for _, name := range s.Words() {
			secs, err := c.file.definitions(s, name)
			if err != nil {
				return err
			}
			for _, sec := range secs {
				sec.read, sec.only = true, true
				if err := c.apply(s, sec); err != nil {
					return err
				}
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.eachSection(s, r.file.under, r.apply) },
}
