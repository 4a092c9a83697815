// Package config reads what an operator writes: switch.yaml, agent.yaml and the
// flags that stand for them. It is a room of its own, beside those the design
// names, because nodes know nothing of files, commands only flags, and the
// laboratory's experiments want the same reader.
//
// Every error is one line: which file, which line, what is wrong, and how to
// mend it. Unknown keys are errors.
package config
