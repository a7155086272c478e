// Command picture draws what each algorithm lets pass of the same takes, as SVG on its
// standard output. From the root of the repository:
//
//	go run ./docs/picture > docs/algorithms.svg
package main

import (
	"fmt"
	"os"
)

func main() {
	if _, err := os.Stdout.Write(draw(lanes())); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}
