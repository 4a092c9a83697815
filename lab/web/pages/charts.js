// What uPlot is told for each kind of chart. A chart's data is a Chart of chart.go.

// short writes a number with four significant digits.
const short = v => v == null || Number.isNaN(v) ? '–' : String(+v.toPrecision(4));

const ink = () => tint('--ink'), ground = () => tint('--ground');
const font = '12px system-ui, sans-serif';

// xs are the values of the x axis.
const xs = x => x.values || Array.from({length: x.n}, (_, i) => (x.from || 0) + i * x.step);

// textWidth measures labels on a chart, in CSS pixels.
const textWidth = (u, texts) => {
  u.ctx.font = u.axes[1].font[0];
  return Math.max(0, ...texts.map(t => u.ctx.measureText(t).width)) / uPlot.pxRatio;
};

function axis(label, side) {
  const a = {
    label, stroke: ink, font, labelFont: font, labelSize: label ? 20 : 0, labelGap: 2, gap: 4,
    grid: {stroke: () => tint('--grid'), width: 1}, ticks: {stroke: () => tint('--tick'), width: 1, size: 5},
    values: (u, splits) => splits.map(v => v == null ? '' : short(v)),
  };
  if (side === 3) {
    a.size = (u, values, i, cycle) => cycle > 1 ? u.axes[i]._size : Math.max(42, Math.ceil(textWidth(u, values || []) + 11));
  } else {
    a.size = 28;
  }
  return a;
}

// marks chooses which values of a logarithmic axis have a label.
function marks(u, splits) {
  const decades = Math.log10(u.scales.x.max / u.scales.x.min);
  const digits = decades < 0.7 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 2.5 ? [1, 2, 5] : [1];
  return splits.map(v => digits.includes(Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9))) ? v : null);
}

// wrapped breaks a name into lines of so many characters, where it has a joint.
function wrapped(name, most) {
  const lines = [''];
  for (const part of name.match(/[^_@+ -]+[_@+ -]?|[_@+ -]/g) || []) {
    if (lines.at(-1) && lines.at(-1).length + part.trimEnd().length > most) lines.push('');
    lines.push(lines.pop() + part);
  }
  return lines;
}

// named puts a name at each value of the x axis, in several lines or else at an
// angle if they are too long.
function named(a, x, values) {
  const charWidth = 7.2;
  const layout = u => {
    const most = Math.floor((u.width - 80) / values.length / charWidth) - 1;
    const lines = x.names.map(n => wrapped(n, most));
    const fits = lines.every(l => l.length <= 3 && l.every(part => part.length <= most));
    return {lines, fits, rows: Math.max(...lines.map(l => l.length))};
  };
  // At an angle a name has what is left of its place, or else its middle is left out: the legend has all of it.
  const shortened = u => {
    const most = Math.max(8, Math.floor((50 + (u.width - 80) / values.length / 2) / (charWidth * 0.77)));
    return x.names.map(n => n.length <= most ? n : n.slice(0, Math.ceil(most / 2) - 1) + '…' + n.slice(-Math.floor(most / 2)));
  };
  a.splits = () => values;
  a.filter = (u, splits) => splits;
  a.lineGap = 1.2;
  a.values = (u, splits) => {
    const {lines, fits} = layout(u);
    return splits.map(v => fits ? lines[values.indexOf(v)].join('\n') : shortened(u)[values.indexOf(v)]);
  };
  a.rotate = u => layout(u).fits ? 0 : 40;
  a.size = u => {
    const {fits, rows} = layout(u);
    return fits ? 14 + 14 * rows : 24 + Math.max(...shortened(u).map(n => n.length)) * charWidth * 0.66;
  };
}

// fromZero is the range of an axis that shows zero.
const fromZero = (u, min, max) => {
  if (min == null) return [0, 1];
  const [low, high] = uPlot.rangeNum(Math.min(0, min), Math.max(0, max), 0.06, true);
  return [min < 0 ? low : 0, high > 0 ? high : 1];
};

// whole is the range of an x axis that shows everything: as it is given, or with
// a little room beside the outer values.
function whole(x, min, max) {
  if (x.range) return x.range;
  if (x.log) return min === max ? [min / 2, max * 2] : [min / (max / min) ** 0.03, max * (max / min) ** 0.03];
  const room = (max - min) * 0.03 || 1;
  return [min - room, max + room];
}

// range is uPlot's question for the range of x, also when part of it was chosen.
const range = x => (u, min, max) => u.data[0][0] === min && u.data[0].at(-1) === max ? whole(x, min, max) : [min, max];

// intervals draws those of the values of lines.
function intervals(u, lines) {
  const c = u.ctx, dot = uPlot.pxRatio, end = 3 * dot;
  c.save();
  c.beginPath();
  c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  c.clip();
  lines.forEach((line, i) => {
    if (!line.low || !u.series[i + 1].show) return;
    c.strokeStyle = visibleColor(line);
    c.lineWidth = dot;
    c.beginPath();
    line.low.forEach((low, at) => {
      if (low == null) return;
      const x = u.valToPos(u.data[0][at], 'x', true);
      const [from, to] = [low, line.high[at]].map(v => u.valToPos(v, 'y', true));
      c.moveTo(x, from);
      c.lineTo(x, to);
      for (const y of [from, to]) {
        c.moveTo(x - end, y);
        c.lineTo(x + end, y);
      }
    });
    c.stroke();
  });
  c.restore();
}

// A line through one point is none: the point is drawn.
function single(values) { return values.filter(v => v != null).length === 1; }

// The paper's numbers: a diamond is the number, a triangle points to where it may be.
const diamond = [[0, 1.3], [1.1, 0], [0, -1.3], [-1.1, 0]];
const shapes = {at_least: [[-1, 0], [0, 1.7], [1, 0]], at_most: [[-1, 0], [0, -1.7], [1, 0]]};

// papers draws them, each where the value of its line is.
function papers(u, chart) {
  const c = u.ctx, dot = uPlot.pxRatio;
  c.save();
  for (const m of chart.paper) {
    if (!u.series[m.line + 1].show) continue;
    const at = u.data[0][m.at] + (chart.kind === 'bars' ? middle(chart.lines, m.line) : 0);
    const x = u.valToPos(at, 'x', true), y = u.valToPos(m.y, 'y', true);
    if (x < u.bbox.left - 1 || x > u.bbox.left + u.bbox.width + 1) continue;
    c.beginPath();
    for (const [dx, dy] of shapes[m.bound] || diamond) c.lineTo(x + 6 * dot * dx, y - 6 * dot * dy);
    c.closePath();
    for (const [color, width] of [[ground(), 4], [chart.kind === 'bars' ? ink() : visibleColor(chart.lines[m.line]), 1.8]]) {
      c.strokeStyle = color;
      c.lineWidth = width * dot;
      c.stroke();
      c.fillStyle = ground();
      c.fill();
    }
  }
  c.restore();
}

// between says in which interval a value is.
const between = (line, at) => line.low && at != null && line.low[at] != null ? ` (${short(line.low[at])} to ${short(line.high[at])})` : '';

// paperAt says what the paper has of a line at a place of x.
function paperAt(chart, i, at) {
  const signs = {at_least: '≥ ', at_most: '≤ '};
  const said = (chart.paper || []).filter(m => m.line === i && m.at === at && !m.ratio).map(m => (signs[m.bound] || '') + short(m.y));
  return said.length ? ` (paper ${said.join(', ')})` : '';
}

// said is what the legend has of a line: under the cursor, or else the value that its chart chose.
function said(chart, i, v, at) {
  const line = chart.lines[i];
  if (at == null) {
    if (!line.value) return '–';
    v = line.value[0];
    at = line.at;
  }
  return short(v) + between(line, at) + paperAt(chart, i, at);
}

// where says of what place those values are.
function where(chart, v, at) {
  if (at == null) return chart.said || '';
  const place = chart.x.names ? chart.x.names[at] : short(v);
  return chart.x.label ? `${chart.x.label}: ${place}` : place;
}

// options returns what uPlot is to draw, and its data.
function options(chart, width, height, isHidden) {
  const {kind, x, lines} = chart;
  const values = xs(x), categories = kind === 'bars';
  const o = {
    width, height,
    padding: [8, 20, 0, 4],
    legend: {markers: {width: 3, dash: (u, i) => lines[i - 1].dash ? (lines[i - 1].dash[0] > 4 ? 'dashed' : 'dotted') : 'solid', stroke: (u, i) => visibleColor(lines[i - 1]), fill: 'none'}},
    cursor: {drag: {x: true, y: false}, focus: {prox: 16}, points: {show: !categories, size: 7}},
    focus: {alpha: 0.3},
    scales: {x: {time: false, range: range(x)}, y: {range: fromZero}},
    axes: [axis(x.label), axis(chart.y, 3)],
    series: [{label: 'where', value: (u, v, i, at) => where(chart, v, at)}],
  };
  if (kind === 'cdf') o.scales.y.range = [0, 1];
  const ends = [...lines.flatMap(l => [...l.low || [], ...l.high || []]), ...(chart.paper || []).map(m => m.y)].filter(v => v != null);
  if (ends.length) {
    o.scales.y.range = (u, min, max) => fromZero(u, Math.min(min, ...ends), Math.max(max, ...ends));
    o.plugins = [{hooks: {draw: [u => intervals(u, lines), u => papers(u, chart)].slice(0, chart.paper ? 2 : 1)}}];
  }
  if (x.log) {
    o.scales.x.distr = 3;
    o.axes[0].filter = marks;
  }
  if (kind === 'sweep' && x.names && (x.log || x.names.length <= 12)) named(o.axes[0], x, values);
  if (categories) {
    o.scales.x.range = () => [-0.5, values.length - 0.5];
    o.cursor.drag = {x: false, y: false};
    o.axes[0].grid = {show: false};
    named(o.axes[0], x, values);
  }
  lines.forEach((line, i) => {
    const s = {
      label: line.name, stroke: () => visibleColor(line), width: 1.5, dash: line.dash, show: !isHidden(line.scheme), spanGaps: kind !== 'sweep',
      points: {show: kind === 'sweep' || !categories && single(line.v), size: 6, fill: () => visibleColor(line)},
      value: (u, v, k, at) => said(chart, i, v, at),
    };
    if (kind === 'cdf') s.paths = uPlot.paths.stepped({align: 1});
    if (categories) Object.assign(s, {fill: () => visibleColor(line) + (line.dash ? '80' : 'd0'), width: 1, paths: bars(lines, i)});
    o.series.push(s);
  });
  return [o, [values, ...lines.map(l => l.v)]];
}

// isAlone reports whether no other line has a bar where a line has one.
const isAlone = (lines, i) => lines.every((l, k) => k === i || l.v.every((v, at) => v == null || lines[i].v[at] == null));

// middle is where a line's bars are in their group.
const middle = (lines, i) => isAlone(lines, i) ? 0 : -0.4 + (i + 0.5) * 0.8 / lines.length;

// bars puts those of a line beside those of the others; where no other has a bar
// at the same place, in the middle.
function bars(lines, i) {
  const size = isAlone(lines, i) ? 0.6 : 0.8 / lines.length;
  const at = middle(lines, i) - size / 2;
  return uPlot.paths.bars({disp: {
    x0: {unit: 1, values: u => u.data[0].map(x => x + at)},
    size: {unit: 1, values: () => [size]},
  }});
}
