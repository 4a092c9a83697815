package web

// Wiring is a drawing of a network, in units that are pixels where there is room for it.
type Wiring struct {
	Width, Height int
	Label         string // for those who do not see it
	Wires         []Wire
	Spots         []Spot
	Texts         []Text
	Facts         []string // about its links, and who sends
}

// Wire is a cable, or many between the same two places. A wire with a bow goes around what is between its ends.
type Wire struct{ X1, Y1, X2, Y2, Bow, Thick int }

// Spot is a node, or many nodes in one place.
type Spot struct {
	Kind       string // switch, host, dot (a host that is one of many) or many
	X, Y, W, H int    // centre and size
	Text       string // in it
	Name       string // of the node, or of all of them
	Nodes      int
}

// Text is words next to what they name.
type Text struct {
	X, Y   int
	Text   string
	Anchor string // start or middle
}
