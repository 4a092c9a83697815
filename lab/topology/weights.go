package topology

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"photon/units"
)

// mostWeight is the sum of the weights of equal paths: what switches keep for a group of ports.
const mostWeight = 64

// weigh repeats the ports that lead to a host in proportion to what they can carry (WCMP, EuroSys'14): no more than their
// link, and no more than all ways on from its other end together. The host's own link is as narrow for all, and does not
// count. d are the distances to the host.
func (p *Plan) weigh(ways map[int][]uint16, to int, d []int) {
	switches := slices.Collect(maps.Keys(ways))
	slices.SortFunc(switches, func(a, b int) int { return cmp.Or(cmp.Compare(d[a], d[b]), cmp.Compare(a, b)) })
	carries := map[int]units.Rate{to: math.MaxInt64}
	for _, i := range switches {
		ports := ways[i]
		var rates []units.Rate
		for _, port := range ports {
			end := p.Nodes[i].Ends[port]
			rate := min(end.Link.Rate, carries[end.Node])
			if end.Node == to {
				rate = math.MaxInt64
			}
			rates = append(rates, rate)
			carries[i] = min(carries[i], math.MaxInt64-rate) + rate
		}
		if len(ports) > 1 {
			ways[i] = repeated(ports, rates)
		}
	}
}

// repeated has each port as often as its rate asks for among the others, in turns: the first of each, then the second.
func repeated(ports []uint16, rates []units.Rate) (list []uint16) {
	divisor, sum := units.Rate(0), 0.0
	for _, r := range rates {
		divisor = greatestDivisor(divisor, r)
		sum += float64(r)
	}
	times := make([]int, len(ports))
	for i, r := range rates {
		times[i] = 1 // one that carries next to nothing, and those of more than 64 ports
		if sum/float64(divisor) <= mostWeight {
			times[i] = int(r / divisor)
		} else if n := math.Round(float64(r) * mostWeight / sum); n > 1 {
			times[i] = int(n)
		}
	}
	for round := 0; round < slices.Max(times); round++ {
		for i, port := range ports {
			if round < times[i] {
				list = append(list, port)
			}
		}
	}
	return list
}

func greatestDivisor(a, b units.Rate) units.Rate {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
