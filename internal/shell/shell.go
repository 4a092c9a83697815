// Package shell writes words of commands for those who copy them into a shell.
package shell

import "strings"

// Word is a text as a POSIX shell takes it for one word: as it is where nothing in it has a meaning of its own, else
// in quotes.
func Word(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if text != "" && strings.Trim(text, plain) == "" && !strings.HasPrefix(text, "-") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Words are several words, with spaces between them.
func Words(texts ...string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = Word(t)
	}
	return strings.Join(quoted, " ")
}
