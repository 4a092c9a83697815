// Package collective says how ranks move the pieces of a collective operation: who sends what
// to whom, and what each message waits for. It knows neither networks nor time.
package collective
