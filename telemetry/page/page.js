// What pages share: numbers, elements, charts that move, and asking again and again.

const prefixes = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];
// parts are a number with three significant digits, and its prefix.
function parts(v) {
  const a = Math.abs(v);
  if (a < 1) return [a < 5e-4 ? '0' : String(+v.toPrecision(2)), ''];
  const [scale, prefix] = prefixes.find(([s]) => a >= s * 0.9995);
  const n = v / scale;
  return [n.toFixed(Math.abs(n) >= 99.95 || prefix === '' && Number.isInteger(n) ? 0 : Math.abs(n) >= 9.995 ? 1 : 2), prefix];
}
const missing = v => v == null || Number.isNaN(v);
const si = v => missing(v) ? '–' : parts(v).join('');
const rate = v => missing(v) ? '–' : parts(v).join(' ').trimEnd() + (parts(v)[1] ? '' : ' ') + 'bit/s';
const bytes = v => missing(v) ? '–' : parts(v).join(' ').trimEnd().replace('k', 'K') + (parts(v)[1] ? '' : ' ') + 'B';
// short is a text without the zeros that end a fraction.
const short = text => text.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');
function span(s) {
  if (s == null) return '–';
  const a = Math.abs(s);
  if (a === 0) return '0 s';
  if (a < 0.9995e-3) return +(s * 1e6).toPrecision(3) + ' µs';
  if (a < 0.9995) return +(s * 1e3).toPrecision(3) + ' ms';
  if (a < 99.5) return +s.toPrecision(3) + ' s';
  if (a < 5400) return Math.floor(s / 60) + ' min ' + Math.round(s % 60) + ' s';
  return Math.floor(s / 3600) + ' h ' + Math.round(s % 3600 / 60) + ' min';
}
const percent = p => p >= 0.995 ? '100 %' : p > 0 && p < 0.01 ? '<1 %' : Math.round(p * 100) + ' %';

// el makes an element; attributes that are functions are listeners.
function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) {
    if (typeof v === 'function') e.addEventListener(k, v);
    else if (v != null && v !== false) e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.filter(c => c != null));
  return e;
}

// say sets a text, if it is another.
const say = (e, text) => { if (e.textContent !== text) e.textContent = text; };

// Colours told apart by colour-blind readers too, Okabe's and Ito's, each with the one that stands for it on a dark ground.
const palette = [['#0072b2', '#3d97d8'], ['#d55e00', '#ff6f2c'], ['#009e73', '#14b584'], ['#cc79a7', '#e79cc5'],
  ['#e69f00', '#f5b31a'], ['#56b4e9', '#a3d9fb'], ['#000000', '#f2f4f6'], ['#7a7a7a', '#87919b']];
const dashes = [undefined, [8, 4], [2, 3]];
const numbered = i => ({color: palette[i % palette.length][0], dark: palette[i % palette.length][1], dash: dashes[Math.floor(i / palette.length) % dashes.length]});

// swatch is a piece of a line as a drawing.
function swatch(look) {
  const {dash} = look;
  const ns = 'http://www.w3.org/2000/svg', svg = document.createElementNS(ns, 'svg'), line = document.createElementNS(ns, 'line');
  svg.setAttribute('viewBox', '0 0 26 8');
  svg.setAttribute('aria-hidden', 'true');
  for (const [k, v] of Object.entries({x1: 0, x2: 26, y1: 4, y2: 4, stroke: visibleColor(look), 'stroke-width': 3})) line.setAttribute(k, v);
  if (dash) line.setAttribute('stroke-dasharray', dash.join(' '));
  svg.append(line);
  return svg;
}

// charts of a page, for those who look closer, and for tests.
const charts = [];

// Chart is a figure whose lines move. Lines are {name, color, dash, v}; x is what
// they have in common, and range what of it is shown.
class Chart {
  constructor(title, {note = '', format = si, least = 1, most = Infinity, x = v => v} = {}) {
    Object.assign(this, {format, least, most, x, lines: [], off: new Set(), names: ''});
    this.plot = el('div', {class: 'plot'});
    this.legend = el('ul', {class: 'legend'});
    this.note = el('span', {class: 'note'}, note);
    this.figure = el('figure', {class: 'chart'}, el('figcaption', {}, el('span', {class: 'title'}, title), this.note), this.plot, this.legend);
    this.figure.chart = this;
    this.title = title;
    charts.push(this);
    new ResizeObserver(() => this.u && this.u.width !== this.plot.clientWidth && this.u.setSize(this.size())).observe(this.plot);
  }

  size() { return {width: Math.max(200, this.plot.clientWidth), height: 220}; }

  // show draws lines. Nothing, or a text, stands where there are none.
  show(values, lines, range, empty = 'nothing yet') {
    const names = (lines.length ? lines.map(l => l.name + l.color + l.dash).join('\n') : empty) + night.matches;
    this.lines = lines;
    this.range = range;
    if (names !== this.names) {
      this.names = names;
      if (this.u) this.u.destroy();
      this.u = null;
      this.plot.replaceChildren();
      if (lines.length) this.make([values, ...lines.map(l => l.v)]);
      else this.plot.append(el('p', {class: 'empty'}, empty));
      this.chips();
    } else if (this.u) {
      this.u.setData([values, ...lines.map(l => l.v)]);
    }
    this.values();
  }

  // widest is the width of the longest of these texts as an axis writes them, in CSS pixels.
  widest(u, texts) {
    u.ctx.font = u.axes[0].font[0];
    return Math.ceil(Math.max(0, ...texts.map(t => u.ctx.measureText(t).width)) / uPlot.pxRatio);
  }

  // time is the width of what may stand below the chart: about as many values as it has room for.
  time(u) {
    const [from, to] = this.range;
    return this.widest(u, Array.from({length: 13}, (_, i) => this.x(from + (to - from) * i / 12)));
  }

  make(data) {
    const font = '12px system-ui, sans-serif', axis = () => tint('--soft');
    const grid = {stroke: () => tint('--grid'), width: 1}, ticks = {stroke: () => tint('--line'), width: 1, size: 4};
    this.u = new uPlot({
      ...this.size(), padding: [10, u => Math.max(24, this.time(u) / 2 + 2), 0, 0], legend: {show: false},
      cursor: {drag: {x: false, y: false}, points: {size: 7}, sync: {key: 'page', setSeries: false}},
      scales: {
        x: {time: false, range: () => this.range},
        y: {range: (u, min, max) => [0, Math.min(this.most, Math.max(this.least, (max || 0) * 1.08))]},
      },
      axes: [
        {stroke: axis, font, grid, ticks, size: 30, gap: 4, space: u => Math.max(50, this.time(u) + 12), values: (u, at) => at.map(this.x)},
        {stroke: axis, font, grid, ticks, size: (u, texts) => Math.max(54, this.widest(u, texts || []) + 10), gap: 4, values: (u, at) => at.map(v => short(this.format(v)))},
      ],
      series: [{}, ...this.lines.map(l => ({
        label: l.name, stroke: visibleColor(l), width: 1.75, dash: l.dash, show: !this.off.has(l.name), spanGaps: false, points: {show: false},
        fill: this.lines.length === 1 ? visibleColor(l) + '22' : undefined,
      }))],
      hooks: {setCursor: [() => this.values()]},
    }, data, this.plot);
    this.u.ctx.canvas.setAttribute('role', 'img');
    this.u.ctx.canvas.setAttribute('aria-label', this.title);
  }

  chips() {
    this.chip = this.lines.map((l, i) => {
      const value = el('span', {class: 'num'});
      const toggle = e => {
        if (e.type === 'keydown' && e.key !== 'Enter' && e.key !== ' ') return;
        e.preventDefault();
        const hide = !this.off.has(l.name);
        this.off[hide ? 'add' : 'delete'](l.name);
        item.classList.toggle('off', hide);
        this.u.setSeries(i + 1, {show: !hide});
      };
      const item = el('li', {tabindex: 0, role: 'button', click: toggle, keydown: toggle}, swatch(l), l.name, value);
      item.classList.toggle('off', this.off.has(l.name));
      return {item, value};
    });
    this.legend.replaceChildren(...this.chip.map(c => c.item));
  }

  // values are those under the cursor, or else the last ones.
  values() {
    if (!this.chip) return;
    const under = this.u && this.u.cursor.idx;
    this.lines.forEach((l, i) => {
      let at = under;
      if (at == null) for (at = l.v.length - 1; at > 0 && l.v[at] == null;) at--;
      say(this.chip[i].value, l.v[at] == null ? '–' : this.format(l.v[at]));
    });
  }
}

// ask fetches a document again and again: at once, and then so long after each
// answer. got returns false when nothing more will come. While nobody sees the
// page it does not ask.
function ask(path, every, got, failed) {
  let timer = 0, busy = false, over = false;
  async function look() {
    if (busy || over) return;
    busy = true;
    clearTimeout(timer);
    let d;
    try {
      const r = await fetch(typeof path === 'function' ? path() : path, {signal: AbortSignal.timeout(10000)});
      if (!r.ok) throw new Error((await r.text()).trim());
      d = await r.json();
    } catch (e) {
      failed(e);
    }
    try {
      if (d && await got(d) === false) over = true;
    } finally {
      busy = false;
      if (!over) timer = setTimeout(look, document.hidden ? 60000 : typeof every === 'function' ? every() : every);
    }
  }
  document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); });
  look();
  return look;
}

// state says how the page stands with what it shows.
function setState(e, kind, text) {
  e.className = 'state ' + kind;
  say(e, text);
}
