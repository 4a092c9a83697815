package units

import "testing"

func TestInstantsMoveBack(t *testing.T) {
	for _, c := range [][2]Time{
		{Never, Never}, {-Never, -Never}, {-Never / 2, -Never / 2}, {Lap, 0}, {Lap + 7, 7}, {0, -Lap}, {-Lap, -Never / 2}, {Never - 1, Never - 1 - Lap},
	} {
		if got := c[0].Back(Lap); got != c[1] {
			t.Errorf("%d is %d by a clock that was set back, want %d", c[0], got, c[1])
		}
	}
	for _, c := range [][2]Time{{0, 0}, {Lap, 1}, {Lap + 5, 5}, {Never, Never}} {
		at := c[0]
		if at.RebaseSet(Lap); at != c[1] {
			t.Errorf("%d became %d, want %d", c[0], at, c[1])
		}
	}
	if got := SinceBegan(3, Second); got != 3*Lap.Seconds()+1 {
		t.Errorf("%v s", got)
	}
}
