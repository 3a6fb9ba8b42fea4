module github.com/threelaws/threelaws/agent

go 1.21
