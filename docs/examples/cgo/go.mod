module parlance/examples/cgo

go 1.18
