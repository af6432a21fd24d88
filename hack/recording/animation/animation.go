/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package animation renders the screens of a recording as one SVG: with CSS alone, as text that can be selected, on a dark background,
// which is readable on light and dark pages. For readers who prefer reduced motion it shows the last screen.
package animation

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Frame is the screen from a time on.
type Frame struct {
	At    time.Duration
	Lines []string
}

const (
	// hold is for how long the last frame stays before the animation begins again, longestGap the longest time between two frames.
	hold       = 8 * time.Second
	longestGap = 1500 * time.Millisecond

	fontSize   = 14
	lineHeight = 20
	// charWidth is the width of a character in ems, for all common monospaced fonts.
	charWidth = 0.602
	margin    = 16
)

const style = `
text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
fill:#e2e8e6;white-space:pre;visibility:hidden;animation:%.1fs step-end infinite}
.last{visibility:visible}.dim{fill:#9fb0ac}.ok{fill:#63d0a0}
@media (prefers-reduced-motion:reduce){text{animation:none!important}}
`

// span is a line of the screen from one time to another. Text that is on the last frame stays.
type span struct {
	row      int
	text     string
	from, to time.Duration
	last     bool
}

// Render returns the SVG.
func Render(title string, frames []Frame) string {
	spans, end := spansOf(compress(frames))
	duration := end + hold
	width, height := 0, 0
	for _, s := range spans {
		width, height = max(width, utf8.RuneCountInString(s.text)), max(height, s.row+1)
	}
	var svg strings.Builder
	w, h := int(float64(width)*fontSize*charWidth)+2*margin, height*lineHeight+2*margin
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"><title>%s</title><style>`,
		w, h, w, h, html.EscapeString(title))
	fmt.Fprintf(&svg, style, fontSize, duration.Seconds())
	for i, s := range spans {
		fmt.Fprintf(&svg, "@keyframes k%d{0%%{visibility:hidden}%s{visibility:visible}%s}#t%d{animation-name:k%d}\n",
			i, percent(s.from, duration), ending(s, duration), i, i)
	}
	fmt.Fprintf(&svg, "</style><rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#14191c\" stroke=\"#4a575c\"/>\n", w, h)
	for i, s := range spans {
		y := margin + s.row*lineHeight + fontSize
		fmt.Fprintf(&svg, "<text id=\"t%d\"%s x=\"%d\" y=\"%d\">%s</text>\n", i, classes(s), margin, y, html.EscapeString(s.text))
	}
	return svg.String() + "</svg>\n"
}

// compress shortens the time between two frames.
func compress(frames []Frame) []Frame {
	var at, previous time.Duration
	var result []Frame
	for _, frame := range frames {
		at += min(frame.At-previous, longestGap)
		previous = frame.At
		result = append(result, Frame{At: at, Lines: frame.Lines})
	}
	return result
}

// spansOf returns the lines of all frames, with the times at which each appears and disappears.
func spansOf(frames []Frame) (spans []span, end time.Duration) {
	shown := map[int]*span{}
	var all []*span
	for _, frame := range frames {
		for row := range max(len(frame.Lines), rows(shown)) {
			text := ""
			if row < len(frame.Lines) {
				text = frame.Lines[row]
			}
			if before := shown[row]; before != nil && before.text == text {
				continue
			} else if before != nil {
				before.to = frame.At
				delete(shown, row)
			}
			if text != "" {
				shown[row] = &span{row: row, text: text, from: frame.At}
				all = append(all, shown[row])
			}
		}
		end = frame.At
	}
	for _, s := range all {
		s.last = shown[s.row] == s
		spans = append(spans, *s)
	}
	return spans, end
}

func rows(shown map[int]*span) int {
	count := 0
	for row := range shown {
		count = max(count, row+1)
	}
	return count
}

func percent(at, duration time.Duration) string {
	return fmt.Sprintf("%.2f%%", 100*at.Seconds()/duration.Seconds())
}

func ending(s span, duration time.Duration) string {
	if s.last {
		return ""
	}
	return percent(s.to, duration) + "{visibility:hidden}"
}

func classes(s span) string {
	var names []string
	if s.last {
		names = append(names, "last")
	}
	if strings.HasPrefix(s.text, "✓") {
		names = append(names, "ok")
	} else if strings.HasPrefix(s.text, " ") {
		names = append(names, "dim")
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(` class="%s"`, strings.Join(names, " "))
}

// Last returns the lines of the last frame of an SVG that Render returned.
func Last(svg io.Reader) ([]string, error) {
	var image struct {
		Texts []struct {
			Class string `xml:"class,attr"`
			Row   int    `xml:"y,attr"`
			Text  string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.NewDecoder(svg).Decode(&image); err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	var lines []string
	for _, text := range image.Texts {
		if !slices.Contains(strings.Fields(text.Class), "last") {
			continue
		}
		row := (text.Row - margin) / lineHeight
		for len(lines) <= row {
			lines = append(lines, "")
		}
		lines[row] = text.Text
	}
	return lines, nil
}

var (
	// machine matches absolute paths: the part that differs between machines, and the rest.
	machine  = regexp.MustCompile(`([\s='])/(?:[^\s'/]+/)*?((?:(?:cluster|processes)/)?[^\s'/]+)([\s']|$)`)
	duration = regexp.MustCompile(` +\d+\.\d s$`)
)

// Shorten replaces the part of paths that differs between machines.
func Shorten(line string) string { return machine.ReplaceAllString(line, "$1…/$2$3") }

// Normalize replaces durations, and shortens paths: two runs of the same program show the same.
func Normalize(line string) string { return duration.ReplaceAllString(Shorten(line), " …") }
