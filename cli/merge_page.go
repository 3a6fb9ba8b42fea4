package cli

import (
	"bytes"
	"html/template"
)

func campaignPage(worlds []*merged) ([]byte, error) {
	var b bytes.Buffer
	err := campaignHTML.Execute(&b, worlds)
	return b.Bytes(), err
}

var campaignHTML = template.Must(template.New("campaign").Funcs(template.FuncMap{
	"head": (*merged).head, "missing": (*merged).missing, "command": (*mergedViolation).command,
}).Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>threelaws: a campaign</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
table { border-collapse: collapse } td, th { border-bottom: 1px solid #888; padding: .2em .8em; text-align: left }
td.n { text-align: right } pre { overflow-x: auto; border: 1px solid #888; padding: .6em }
</style>
<h1>A campaign of threelaws</h1>
<table>
<tr><th>world</th><th>result</th><th>violations</th></tr>
{{range $i, $w := .}}<tr><td><a href="#w{{$i}}">{{.World}}</a></td><td>{{if eq .ExitCode 0}}pass{{else if eq .ExitCode 5}}not all was covered{{else if eq .ExitCode 3}}did not settle{{else}}violated{{end}}</td><td class="n">{{.Failed}}</td></tr>
{{end}}</table>
{{range $i, $w := .}}
<h2 id="w{{$i}}">{{.World}}</h2>
<p>{{head .}}{{missing .}}</p>
<p>Settings: {{.Settings}}. File: sha256 {{.Hash}}.</p>
<table>
{{range .Outcomes}}<tr><td class="n">{{.Count}}</td><td>{{.Label}}</td></tr>
{{end}}</table>
{{range $v := .Violations}}
<h3>{{.Law}}</h3>
<p>{{with .Known}}Accepted: {{.}}. {{end}}{{.Text}}</p>
<p>First in schedule {{.Index}}{{with .Often}}; in {{.}}{{end}}.{{if .Written}} Replay: <code>{{command $v}}</code>{{end}}</p>
{{with .Page}}<pre>{{.}}</pre>
{{end}}{{end}}{{end}}</html>
`))
