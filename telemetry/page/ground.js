// The ground of a page: light, or dark if its reader prefers that; on paper always light.

const night = matchMedia('screen and (prefers-color-scheme: dark)');

// tint is a colour that the style sheet names.
const tint = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// visibleColor is the colour of a line on the background there is.
const visibleColor = line => night.matches && line.dark || line.color;
