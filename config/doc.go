// Package config reads what an operator writes: switch.yaml, agent.yaml and the
// flags that stand for them. It is a package of its own because nodes know
// nothing of files, commands know only flags, and the laboratory's experiments
// use the same reader.
//
// Every error is one line: which file, which line, what is wrong, and how to
// correct it. Unknown keys are errors.
package config
