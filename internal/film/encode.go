//go:build browser

package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/gif"
	"maps"
	"slices"
	"time"
)

// encode is the frames as a GIF, shown so many times as fast as they came. A frame has only what differs from the one before, with what is
// the same left transparent, which makes the picture small.
func encode(frames []frame, faster float64) ([]byte, error) {
	palette := paletteOf(frames)
	nearest := map[color.RGBA]uint8{}
	index := func(c color.RGBA) uint8 {
		i, known := nearest[c]
		if !known {
			i = uint8(palette[1:].Index(c) + 1)
			nearest[c] = i
		}
		return i
	}
	film := &gif.GIF{LoopCount: 0}
	var before *image.RGBA
	for i, f := range frames {
		delay := hundredths(still)
		if i+1 < len(frames) { // rounded where it ends, so that no error adds up
			delay = hundredths(time.Duration(float64(frames[i+1].at)/faster)) - hundredths(time.Duration(float64(f.at)/faster))
		}
		box := changed(before, f.image)
		if box.Empty() {
			film.Delay[len(film.Delay)-1] += delay
			continue
		}
		p := image.NewPaletted(box, palette)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				if c := f.image.RGBAAt(x, y); before == nil || c != before.RGBAAt(x, y) {
					p.SetColorIndex(x, y, index(c))
				}
			}
		}
		film.Image, film.Delay, film.Disposal = append(film.Image, p), append(film.Delay, delay), append(film.Disposal, gif.DisposalNone)
		before = f.image
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, film)
	return b.Bytes(), err
}

// hundredths of a second are what a GIF counts in.
func hundredths(d time.Duration) int {
	return int(d.Round(10*time.Millisecond) / (10 * time.Millisecond))
}

// paletteOf is transparent and the 255 colours that are most frequent: a page has few, and their
// mixtures at the edges of letters.
func paletteOf(frames []frame) color.Palette {
	count := map[color.RGBA]int{}
	for _, f := range frames {
		for y := f.image.Rect.Min.Y; y < f.image.Rect.Max.Y; y++ {
			for x := f.image.Rect.Min.X; x < f.image.Rect.Max.X; x++ {
				count[f.image.RGBAAt(x, y)]++
			}
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	palette := color.Palette{color.RGBA{}}
	for _, c := range colors[:min(len(colors), 255)] {
		palette = append(palette, c)
	}
	return palette
}

// changed is the smallest box around what differs.
func changed(before, now *image.RGBA) (box image.Rectangle) {
	if before == nil {
		return now.Rect
	}
	for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
		for x := now.Rect.Min.X; x < now.Rect.Max.X; x++ {
			if before.RGBAAt(x, y) != now.RGBAAt(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}
