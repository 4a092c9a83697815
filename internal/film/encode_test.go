//go:build browser

package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"testing"
	"time"
)

// What is decoded again, picture upon picture, is what was seen, half as long as it was seen if it is
// to be twice as fast; a
// picture like the one before it only lasts longer.
func TestEncode(t *testing.T) {
	var frames []frame
	for i, x := range []int{3, 7, 7, 12} {
		f := frame{at: time.Duration(i) * 300 * time.Millisecond, image: image.NewRGBA(image.Rect(0, 0, 20, 10))}
		draw.Draw(f.image, f.image.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(f.image, image.Rect(x, 2, x+4, 6), image.NewUniform(color.RGBA{uint8(20 * x), 10, 90, 255}), image.Point{}, draw.Src)
		frames = append(frames, f)
	}
	b, err := encode(frames, 2)
	if err != nil {
		t.Fatal(err)
	}
	film, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if len(film.Image) != 3 || film.Delay[0] != 15 || film.Delay[1] != 30 || film.Delay[2] != int(still/(10*time.Millisecond)) {
		t.Fatalf("%d pictures, shown %v", len(film.Image), film.Delay)
	}
	screen := image.NewRGBA(frames[0].image.Rect)
	for i, want := range []*image.RGBA{frames[0].image, frames[1].image, frames[3].image} {
		draw.Draw(screen, film.Image[i].Bounds(), film.Image[i], film.Image[i].Bounds().Min, draw.Over)
		if !bytes.Equal(screen.Pix, want.Pix) {
			t.Errorf("picture %d is another", i)
		}
	}
	if small := film.Image[1].Bounds(); small != image.Rect(3, 2, 11, 6) {
		t.Errorf("the second picture has %v", small)
	}
}
