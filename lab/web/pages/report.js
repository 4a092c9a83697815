// The page: charts are made when they come into view, and follow its width; the
// check boxes of an experiment hide a scheme in all its charts.

// size of a chart in a place of that width.
const sizeFor = width => ({width, height: width < 420 ? 240 : 290});

// On paper charts have the width of report.css.
const onPaper = figure => figure.matches(':only-child') ? {width: 680, height: 270} : {width: 330, height: 210};

class Chart {
  constructor(figure, data, section) {
    Object.assign(this, {figure, data, section, place: figure.querySelector('.plot'), button: figure.querySelector('.reset')});
    this.button.addEventListener('click', () => this.all());
  }

  // make draws the chart the first time it is seen.
  make() {
    if (this.u || this.figure.hidden) return;
    const {width, height} = sizeFor(this.place.clientWidth);
    const [o, data] = options(this.data, width, height, scheme => this.section.hidden.has(scheme));
    if (this.data.group) o.cursor.sync = {key: this.section.id + ' ' + this.data.group, setSeries: false};
    o.hooks = {
      ready: [u => this.full = {min: u.scales.x.min, max: u.scales.x.max}],
      setScale: [(u, key) => key === 'x' && this.zoomed(u.scales.x)],
      setSeries: [(u, i, change) => change.show != null && this.pressed()],
    };
    this.place.style.minHeight = 0;
    this.u = new uPlot(o, data, this.place);
    this.figure.plot = this.u; // for tests, and for who looks closer
    this.u.ctx.canvas.setAttribute('role', 'img');
    this.u.ctx.canvas.setAttribute('aria-label', this.place.getAttribute('aria-label'));
    this.legend();
    if (this.data.kind !== 'bars') pinch(this.u);
  }

  // legend makes its names buttons for the keyboard too. Schemes that are hidden
  // in the whole experiment are not in it.
  legend() {
    this.rows = [...this.u.root.querySelectorAll('.u-series')].slice(1);
    this.rows.forEach((row, k) => {
      const name = row.querySelector('th'), i = k + 1;
      row.hidden = this.section.hidden.has(this.data.lines[k].scheme);
      name.tabIndex = 0;
      name.setAttribute('role', 'button');
      name.addEventListener('keydown', e => {
        if (e.key !== 'Enter' && e.key !== ' ') return;
        e.preventDefault();
        this.u.setSeries(i, {show: !this.u.series[i].show});
      });
    });
    this.pressed();
  }

  // pressed tells who does not see the legend which lines are shown.
  pressed() {
    this.rows?.forEach((row, k) => row.querySelector('th').setAttribute('aria-pressed', this.u.series[k + 1].show));
  }

  zoomed({min, max}) {
    this.button.hidden = !this.full || (min === this.full.min && max === this.full.max);
  }

  all() { this.u.setScale('x', this.full); }

  // show hides or shows a scheme.
  show(scheme, on) {
    if (this.data.scheme) {
      if (this.data.scheme === scheme) this.figure.hidden = !on;
      return;
    }
    if (!this.u) return;
    this.data.lines.forEach((l, i) => {
      if (l.scheme !== scheme) return;
      this.u.setSeries(i + 1, {show: on});
      this.rows[i].hidden = !on;
    });
  }

  // again draws the chart anew, for another ground. What was hidden stays so.
  again() {
    if (!this.u) return;
    const shown = this.u.series.map(s => s.show);
    this.u.destroy();
    this.u = null;
    this.make();
    shown.forEach((show, i) => i && show !== this.u.series[i].show && this.u.setSeries(i, {show}));
  }

  fit() {
    if (this.u && !paper && this.place.clientWidth > 0 && this.place.clientWidth !== this.u.width) this.u.setSize(sizeFor(this.place.clientWidth));
  }

  print(on) {
    if (this.figure.hidden) return;
    this.make();
    this.u.setSize(on ? onPaper(this.figure) : sizeFor(this.place.clientWidth));
  }
}

// pinch zooms with two fingers; one finger scrolls the page.
function pinch(u) {
  const fingers = new Map();
  let begin = null;
  const ends = () => [...fingers.values()].sort((a, b) => a - b).map(x => x - u.rect.left); // which moves with the labels of y
  const value = left => u.posToVal(left, 'x');
  u.over.addEventListener('pointerdown', e => {
    if (e.pointerType !== 'touch') return;
    fingers.set(e.pointerId, e.clientX);
    if (fingers.size === 2) begin = ends().map(value);
  });
  u.over.addEventListener('pointermove', e => {
    if (!fingers.has(e.pointerId)) return;
    fingers.set(e.pointerId, e.clientX);
    if (fingers.size !== 2 || !begin) return;
    const [a, b] = ends(), log = u.scales.x.distr === 3;
    if (b - a < 10) return;
    // The values that were under the fingers stay there.
    const f = log ? Math.log : v => v, g = log ? Math.exp : v => v;
    const per = (f(begin[1]) - f(begin[0])) / (b - a), min = f(begin[0]) - a * per;
    u.setScale('x', {min: g(min), max: g(min + per * u.rect.width)});
  });
  for (const end of ['pointerup', 'pointercancel', 'pointerleave']) {
    u.over.addEventListener(end, e => {
      fingers.delete(e.pointerId);
      begin = null;
    });
  }
}

const charts = [];
let paper = false;

for (const article of document.querySelectorAll('article')) {
  const script = article.querySelector('script.data');
  if (!script) continue;
  const data = JSON.parse(script.textContent);
  const section = {id: article.id, hidden: new Set(data.schemes.filter(s => s.hidden).map(s => s.name))};
  const own = [...article.querySelectorAll('figure.chart')].map(f => new Chart(f, data.charts[f.dataset.chart], section));
  charts.push(...own);
  for (const scheme of section.hidden) own.forEach(c => c.show(scheme, false));
  article.querySelectorAll('input[data-scheme]').forEach(box => {
    box.checked = !section.hidden.has(box.dataset.scheme); // whatever the browser remembers
    box.addEventListener('change', () => {
      section.hidden[box.checked ? 'delete' : 'add'](box.dataset.scheme);
      own.forEach(c => c.show(box.dataset.scheme, box.checked));
    });
  });
}

const byFigure = new Map(charts.map(c => [c.figure, c]));
const inView = new IntersectionObserver(entries => {
  for (const e of entries) if (e.isIntersecting) byFigure.get(e.target).make();
}, {rootMargin: '800px'});
const sized = new ResizeObserver(entries => {
  for (const e of entries) byFigure.get(e.target).fit();
});
for (const c of charts) {
  inView.observe(c.figure);
  sized.observe(c.figure);
}

night.addEventListener('change', () => charts.forEach(c => c.again()));

// Before it goes to paper every chart is drawn, in the width it has there, and everything unfolded: nobody can later.
let unfolded = [];
function print(on) {
  if (paper === on) return;
  paper = on;
  charts.forEach(c => c.print(on));
  if (on) unfolded = [...document.querySelectorAll('details:not([open])')];
  for (const details of unfolded) details.open = on;
}
window.addEventListener('beforeprint', () => print(true));
window.addEventListener('afterprint', () => print(false));
matchMedia('print').addEventListener('change', e => print(e.matches));
