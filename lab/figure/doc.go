// Package figure draws results as pictures that a paper's figures can be laid
// beside. It is apart from lab so that what only runs experiments does not carry
// fonts and renderers with it.
package figure
