// Package browser lets tests look at pages in headless Chromium. It is a package of
// its own because tests of several packages need it and no program does. All but
// this file needs the build tag browser, and Chromium (scripts/setup.sh browser).
package browser
