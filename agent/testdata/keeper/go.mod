module example.com/keeper

go 1.25

require github.com/threelaws/threelaws/agent v0.0.0

replace github.com/threelaws/threelaws/agent => ../..
