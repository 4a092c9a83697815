// What a reader would find wrong with a page: texts on texts, texts cut off, texts that do not stand out from their
// ground. Run before the page's own scripts, since it also listens to what is written on canvases.
window.layoutMistakes = (() => {
  const written = new WeakMap(); // by canvas: its texts, with their corners, in pixels of the canvas
  const draw = CanvasRenderingContext2D.prototype, {fillText, clearRect} = draw;
  draw.clearRect = function (x, y, w, h) {
    if (w >= this.canvas.width && h >= this.canvas.height) written.delete(this.canvas);
    return clearRect.call(this, x, y, w, h);
  };
  draw.fillText = function (text, x, y, ...rest) {
    if (String(text).trim()) {
      const m = this.measureText(text), to = this.getTransform();
      const left = x - m.actualBoundingBoxLeft, right = x + m.actualBoundingBoxRight, top = y - m.actualBoundingBoxAscent, bottom = y + m.actualBoundingBoxDescent;
      const corners = [[left, top], [right, top], [right, bottom], [left, bottom]].map(([a, b]) => { const p = to.transformPoint({x: a, y: b}); return [p.x, p.y]; });
      if (!written.has(this.canvas)) written.set(this.canvas, []);
      written.get(this.canvas).push({text: String(text), corners, color: this.fillStyle});
    }
    return fillText.call(this, text, x, y, ...rest);
  };

  // apart reports whether a line divides two convex shapes, or nearly does: slack is how far they may be in each other.
  const apart = (a, b, slack) => [[a, b], [b, a]].some(([p]) => p.some((from, i) => {
    const to = p[(i + 1) % p.length], length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const normal = [(to[1] - from[1]) / length, (from[0] - to[0]) / length];
    const span = q => { const d = q.map(c => c[0] * normal[0] + c[1] * normal[1]); return [Math.min(...d), Math.max(...d)]; };
    const [u, v] = [span(a), span(b)];
    return Math.min(u[1], v[1]) - Math.max(u[0], v[0]) <= slack;
  }));

  const rgb = text => {
    const n = (text.match(/[\d.]+%?/g) || []).map(parseFloat);
    if (text.startsWith('#')) return [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16)).concat(1);
    return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
  };
  const over = (top, ground) => [0, 1, 2].map(i => top[i] * top[3] + ground[i] * (1 - top[3])).concat(1);
  const luminance = c => [0.2126, 0.7152, 0.0722].reduce((sum, k, i) => {
    const v = c[i] / 255;
    return sum + k * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const white = [255, 255, 255, 1];

  // groundOf is the colour behind an element: those of what it is in, and of the shape that a text of a drawing is on.
  function groundOf(e) {
    const layers = [];
    const shape = e instanceof SVGElement && e.parentElement.querySelector('rect');
    if (shape && e.parentElement.tagName === 'g') layers.push(rgb(getComputedStyle(shape).fill));
    for (let p = e; p; p = p.parentElement) {
      if (p instanceof SVGElement && p.tagName !== 'svg') continue;
      const c = rgb(getComputedStyle(p).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reverse().reduce((ground, c) => over(c, ground), matchMedia('screen and (prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : white);
  }

  // texts are the pieces of text that are there to be seen, with their boxes.
  function texts() {
    const list = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n; (n = walk.nextNode());) {
      const e = n.parentElement, text = n.textContent.trim();
      if (!text || ['SCRIPT', 'STYLE', 'TITLE', 'NOSCRIPT', 'title'].includes(e.tagName) || e.closest('.hidden')) continue;
      if (e.tagName === 'DETAILS' && !e.open || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
      const range = document.createRange();
      range.selectNodeContents(n);
      const boxes = [...range.getClientRects()].filter(r => r.width > 0 && r.height > 0);
      if (boxes.length) list.push({e, text: text.slice(0, 40), boxes});
    }
    return list;
  }

  // cut is what does not show all that an element has.
  function cut(e) {
    for (let p = e; p && p !== document.body; p = p.parentElement) {
      const s = getComputedStyle(p);
      if (s.overflowX !== 'visible' && p.scrollWidth > p.clientWidth + 1 && !p.classList.contains('u-over')) return p;
    }
    return null;
  }

  const called = e => e.tagName.toLowerCase() + (e.className && e.className.baseVal == null ? '.' + String(e.className).trim().replace(/\s+/g, '.') : '');

  return () => {
    const wrong = [], all = texts();
    const say = text => { if (wrong.length < 20 && !wrong.includes(text)) wrong.push(text); };
    if (document.documentElement.scrollWidth > innerWidth) say(`the page is ${document.documentElement.scrollWidth} wide, its window ${innerWidth}`);
    const boxes = all.flatMap(t => t.boxes.map(b => ({t, b}))).sort((p, q) => p.b.top - q.b.top);
    boxes.forEach(({t, b}, i) => {
      if (b.right > innerWidth + 1 || b.left < -1) say(`${called(t.e)} "${t.text}" goes from ${Math.round(b.left)} to ${Math.round(b.right)}`);
      for (let k = i + 1; k < boxes.length && boxes[k].b.top < b.bottom - 2; k++) {
        const o = boxes[k].b;
        if (boxes[k].t !== t && Math.min(b.right, o.right) - Math.max(b.left, o.left) > 2 && Math.min(b.bottom, o.bottom) - o.top > 3) say(`"${t.text}" and "${boxes[k].t.text}" are on each other`);
      }
    });
    for (const t of all) {
      const by = cut(t.e), s = getComputedStyle(t.e);
      if (by) say(`"${t.text}" is in ${called(by)}, which is ${by.scrollWidth} wide and shows ${by.clientWidth}`);
      const ground = groundOf(t.e), ink = over(rgb(t.e instanceof SVGElement ? s.fill : s.color), ground);
      const large = parseFloat(s.fontSize) >= 24 || parseFloat(s.fontSize) >= 18.66 && s.fontWeight >= 700;
      const opacity = (() => { let o = 1; for (let p = t.e; p; p = p.parentElement) o *= getComputedStyle(p).opacity; return o; })();
      const seen = contrast(over([...ink.slice(0, 3), opacity], ground), ground);
      if (seen < (large ? 3 : 4.5)) say(`"${t.text}" has a contrast of ${seen.toFixed(2)} (${called(t.e)})`);
      if (parseFloat(s.fontSize) < 11.9) say(`"${t.text}" has letters of ${s.fontSize}`);
    }
    const ground = groundOf(document.body);
    for (const c of document.querySelectorAll('canvas')) {
      const list = written.get(c) || [], scale = c.width / c.getBoundingClientRect().width;
      list.forEach((t, i) => {
        if (t.corners.some(([x, y]) => x < -2 || y < -2 || x > c.width + 2 || y > c.height + 2)) say(`"${t.text}" is cut off at the edge of a chart`);
        if (contrast(rgb(t.color), ground) < 4.5) say(`"${t.text}" on a chart has a contrast of ${contrast(rgb(t.color), ground).toFixed(2)}`);
        for (const o of list.slice(i + 1)) if (!apart(t.corners, o.corners, scale)) say(`"${t.text}" and "${o.text}" are on each other in a chart`);
      });
    }
    return wrong;
  };
})();
