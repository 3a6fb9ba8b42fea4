package ci

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Annotate writes the annotations of a case, one line each, as GitHub's workflow
// commands.
func Annotate(w io.Writer, c *Case) error {
	for i := range c.Problems {
		if _, err := fmt.Fprintln(w, c.Problems[i].annotation()); err != nil {
			return err
		}
	}
	return nil
}

// annotation is the workflow command of a problem.
func (p *Problem) annotation() string {
	var properties []string
	add := func(name, value string) {
		if value != "" {
			properties = append(properties, name+"="+property.Replace(value))
		}
	}
	add("file", filepath.ToSlash(p.File))
	if p.File != "" && p.Line > 0 {
		add("line", strconv.Itoa(p.Line))
	}
	add("title", p.Title)
	return "::error " + strings.Join(properties, ",") + "::" + data.Replace(p.Text)
}

// What GitHub has escaped in a message, and in a property, which ends at a colon
// or a comma.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// InRepository is where a file of the disk is in the repository that was checked out
// into a directory: annotations name files so. A file outside of it is named as it
// was.
func InRepository(workspace, file string) string {
	if workspace == "" {
		return file
	}
	whole, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	in, err := filepath.Rel(workspace, whole)
	if err != nil || in == ".." || strings.HasPrefix(in, ".."+string(filepath.Separator)) {
		return file
	}
	return in
}
