package main

import (
	"bytes"
	"fmt"
	"slices"
)

// Sizes are in pixels.
const (
	width  = 880
	left   = 164 // where time begins
	span   = 544 // what time takes
	right  = left + span
	top    = 112
	pitch  = 78 // from lane to lane
	curve  = 40 // the height of twice the limit
	tick   = 12
	bottom = 58
)

// The picture shows time from here to end.
const begin = 40 * second

const style = `<style>
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2937 }
.title { font-size: 15px; font-weight: 600 }
.name { font-weight: 600 }
.soft { font-size: 11px; fill: #6b7280 }
.mid { text-anchor: middle }
.end { text-anchor: end }
.asked { fill: #d1d5db }
.cut { stroke: #9ca3af; stroke-dasharray: 2 3; fill: none }
.limit { stroke: #6b7280; stroke-width: .7 }
.within { fill: #bfdbfe }
.over { fill: #fb923c }
.pass { stroke: #1d4ed8; stroke-width: .8; fill: none }
</style>
`

// draw makes the picture. It counts in whole numbers, so that each machine makes the
// same.
func draw(lanes []lane) []byte {
	var b bytes.Buffer
	height := top + len(lanes)*pitch + bottom
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintln(&b, "<!-- made by: go run ./docs/picture > docs/algorithms.svg -->")
	fmt.Fprintln(&b, "<title>What each algorithm lets pass of the same takes</title>")
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#fff"/>`+"\n", width, height)
	drawHead(&b)
	drawTime(&b, height-bottom)
	for i, l := range lanes {
		drawLane(&b, l, top+i*pitch)
	}
	text(&b, left, height-18, "soft", "Strokes: events that pass. Area: how many passed in the last minute; orange is over the limit.")
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func drawHead(b *bytes.Buffer) {
	text(b, 20, 30, "title", fmt.Sprintf("A limit of %d per minute, asked five times a second from 0:56 on", limit))
	text(b, 20, 76, "name", "asked")
	fmt.Fprintf(b, `<rect class="asked" x="%s" y="66" width="%s" height="%d"/>`+"\n", px(x(first)), px(right*10-x(first)), tick)
	text(b, right+85, 58, "soft mid", "most that pass in any")
	text(b, right+50, 76, "soft mid", "minute")
	text(b, right+120, 76, "soft mid", "10 s")
}

// drawTime draws where windows are cut.
func drawTime(b *bytes.Buffer, y int) {
	for at := begin; at <= end; at += 20 * second {
		mark := fmt.Sprintf("%d:%02d", at/minute, at%minute/second)
		text(b, int(x(at)/10), y+18, "soft mid", mark)
		if at%minute == 0 {
			fmt.Fprintf(b, `<path class="cut" d="M%s 60V%d"/>`+"\n", px(x(at)), y+4)
		}
	}
}

func drawLane(b *bytes.Buffer, l lane, y int) {
	base := y + curve
	level := base - curve/2
	text(b, 20, base-14, "name", l.name)
	text(b, 20, base+4, "soft", l.note)
	fmt.Fprintf(b, `<path class="within" d="%s"/>`+"\n", l.area(base, 0, limit))
	if over := l.area(level, limit, 2*limit); over != "" {
		fmt.Fprintf(b, `<path class="over" d="%s"/>`+"\n", over)
	}
	fmt.Fprintf(b, `<path class="limit" d="M%d %dH%d"/>`+"\n", left, level, right)
	text(b, left-6, level+4, "soft end", fmt.Sprint(limit))
	fmt.Fprintf(b, `<path class="pass" d="%s"/>`+"\n", l.strokes(base+2))
	text(b, right+50, base-4, "mid name", fmt.Sprint(l.most(minute)))
	text(b, right+120, base-4, "mid", fmt.Sprint(l.most(10*second)))
}

// area is the outline of how many events passed in the last minute, as far as that is
// more than low and at most high, over a line at base. It is empty if that never is.
func (l lane) area(base, low, high int) string {
	times := slices.Clone(l.passed)
	for _, at := range l.passed {
		times = append(times, at+minute)
	}
	slices.Sort(times)
	var d bytes.Buffer
	height := 0
	for _, at := range slices.Compact(times) {
		now := (min(max(l.within(minute, at), low), high) - low) * curve / (2 * limit)
		if at >= end || now == height {
			continue
		}
		if d.Len() == 0 {
			fmt.Fprintf(&d, "M%s %d", px(x(at)), base)
		}
		fmt.Fprintf(&d, "H%sV%d", px(x(at)), base-now)
		height = now
	}
	if d.Len() > 0 {
		fmt.Fprintf(&d, "H%dV%dZ", right, base)
	}
	return d.String()
}

func (l lane) strokes(y int) string {
	var d bytes.Buffer
	for _, at := range l.passed {
		fmt.Fprintf(&d, "M%s %dv%d", px(x(at)), y, tick)
	}
	return d.String()
}

// x is where a time is, in tenths of a pixel.
func x(at int64) int64 { return 10*left + (at-begin)*10*span/(end-begin) }

// px writes tenths of a pixel.
func px(tenths int64) string {
	if tenths%10 == 0 {
		return fmt.Sprint(tenths / 10)
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

func text(b *bytes.Buffer, x, y int, class, s string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" class="%s">%s</text>`+"\n", x, y, class, s)
}
