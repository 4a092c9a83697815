// Package ratelimit holds the reaction points (RP), which turn notifications
// into the rate of one flow, and the pacer, which turns the rates of thousands
// of flows into departure times.
//
// Rates count the bits that a frame occupies on the wire, preamble and
// inter-frame gap included, so that the fair share of N flows on a link of rate
// C is C/N whatever the frame size.
//
// A reaction point's own timers (rate increase, alpha) only change its state.
// They are evaluated lazily, in order, whenever it is touched; no world has to
// wake it up.
package ratelimit
