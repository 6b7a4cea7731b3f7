module parlance

go 1.24
