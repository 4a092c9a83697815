// The ground of a page: light, or dark if its reader prefers that; on paper always light.

const night = matchMedia('screen and (prefers-color-scheme: dark)');

// tint is a colour that the style sheet names.
const tint = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// seen is the colour of a look on the ground there is.
const seen = look => night.matches && look.dark || look.color;
