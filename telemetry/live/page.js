// The page of a switch or an agent: what happened between two looks.

const remembered = 600; // answers that the charts remember
const page = document.getElementById('page');
const ui = {
  name: el('h1'), what: el('span', {class: 'sub'}), state: el('span', {class: 'state'}, 'asking'), freeze: el('button', {'aria-pressed': 'false'}, 'Freeze'),
  tiles: el('dl', {class: 'tiles'}), rows: el('tbody'), all: el('button', {'aria-pressed': 'false'}, 'All priorities'), flows: el('tbody'),
  windows: el('span', {class: 'buttons', role: 'group', 'aria-label': 'time shown'}),
};
const flowsPart = el('section', {hidden: true}, el('h2', {}, 'Flows'), el('p', {class: 'small'}), el('div', {class: 'scroll'}, el('table', {class: 'cards flows'},
  el('thead', {}, el('tr', {}, ...['peer', 'queue pair', 'allowed by its reaction point', 'sends', 'CNPs/s', 'sent so far'].map((t, i) => el('th', {scope: 'col', class: i > 2 || i === 1 ? 'n' : null}, t)))), ui.flows)));
page.append(
  el('header', {class: 'head'}, ui.name, ui.what, el('span', {class: 'space'}), ui.state, ui.windows, ui.freeze),
  ui.tiles,
  el('h2', {}, 'Ports and priorities'),
  el('div', {class: 'scroll'}, el('table', {class: 'cards ports'}, el('thead', {}, el('tr', {},
    ...['port', 'priority', 'receives', 'sends', 'egress queue, of XOFF or its limit', 'stopped by its peer', 'stops its peer', 'marks/s', 'drops/s', ''].map((t, i) =>
      el('th', {scope: 'col', class: ([2, 3, 7, 8].includes(i) ? 'n' : '') + ([4, 6, 7].includes(i) ? ' carrier' : '')}, t)))), ui.rows)),
  el('p', {class: 'small'}, 'Rates are bits on the wire: preamble, FCS and gap, 24 bytes a frame, are part of them. ', ui.all),
  el('h2', {}, 'Over time'),
);
const ago = v => v === 0 ? 'now' : v + ' s';
const chart = {
  sent: new Chart('Sends', {note: 'bit/s, by port', format: si, least: 1000, x: ago}),
  received: new Chart('Receives', {note: 'bit/s, by port', format: si, least: 1000, x: ago}),
  queues: new Chart('Queues', {note: 'egress, by port and priority', format: bytes, least: 1000, x: ago}),
  pauses: new Chart('Pauses', {note: 'part of the time: rx stopped by the peer, tx stops it', format: percent, least: 0.05, most: 1.05, x: ago}),
  signals: new Chart('Marks, notifications, drops', {note: 'a second', format: si, least: 10, x: ago}),
  gaps: new Chart('Poll gaps', {note: 'longest and p99 between two looks, to a power of two', format: span, least: 1e-6, x: ago}),
  flows: new Chart('Flows', {note: 'bit/s that reaction points allow', format: si, least: 1000, x: ago}),
};
page.append(el('div', {class: 'charts'}, ...['sent', 'received', 'queues', 'flows', 'pauses', 'signals', 'gaps'].map(c => chart[c].figure)), flowsPart);
chart.flows.figure.hidden = true;

let last = null, frozen = false, everything = false, seconds = 60;
const history = {t: [], lines: new Map()}; // by chart and name: as many values as times

for (const s of [30, 60, 300]) {
  const b = el('button', {'aria-pressed': String(s === seconds), click: () => {
    seconds = s;
    ui.windows.querySelectorAll('button').forEach(o => o.setAttribute('aria-pressed', String(o === b)));
    draw();
  }}, s < 60 ? s + ' s' : s / 60 + ' min');
  ui.windows.append(b);
}
const toggle = (b, f) => b.addEventListener('click', () => {
  const on = b.getAttribute('aria-pressed') !== 'true';
  b.setAttribute('aria-pressed', String(on));
  f(on);
});
toggle(ui.freeze, on => { frozen = on; if (!on) poll(); });
toggle(ui.all, on => { everything = on; if (last) last.rows.forEach(show); });
night.addEventListener('change', draw);

// Tiles at the top.
const tiles = {};
function tile(key, label, text, alert) {
  if (!tiles[key]) {
    tiles[key] = {dd: el('dd'), box: null};
    tiles[key].box = el('div', {class: 'tile'}, el('dt', {}, label), tiles[key].dd);
    ui.tiles.append(tiles[key].box);
  }
  say(tiles[key].dd, text);
  tiles[key].box.classList.toggle('alert', !!alert);
}

const bit = (set, i) => (set >> i & 1) === 1;
const wire = (bytes, packets, p) => bytes[p] + 24 * packets[p];

// compare tells what happened between two documents; null if the node or its ports are others.
function compare(was, is) {
  if (was.now_seconds >= is.now_seconds || was.node !== is.node || was.began_ms !== is.began_ms) return null;
  if (was.ports.length !== is.ports.length || was.ports.some((p, k) => p.port !== is.ports[k].port)) return null;
  const dt = is.now_seconds - was.now_seconds, per = (a, b) => Math.max(0, b - a) / dt;
  const rows = [];
  is.ports.forEach((p, k) => {
    const o = was.ports[k];
    for (let prio = 0; prio < 8; prio++) {
      rows.push({
        port: p.port, prio, up: p.up, line: p.rate_bps, lossless: bit(p.lossless, prio), first: prio === 0,
        rx: 8 * per(wire(o.rx_bytes, o.rx_packets, prio), wire(p.rx_bytes, p.rx_packets, prio)),
        tx: 8 * per(wire(o.tx_bytes, o.tx_packets, prio), wire(p.tx_bytes, p.tx_packets, prio)),
        queue: p.queue_bytes[prio], peak: p.queue_watermark_bytes[prio], full: p.full_bytes[prio], room: p.headroom_bytes[prio],
        rxPaused: Math.min(1, per(o.rx_paused_seconds[prio], p.rx_paused_seconds[prio])), txPaused: Math.min(1, per(o.tx_paused_seconds[prio], p.tx_paused_seconds[prio])),
        rxPausedNow: bit(p.rx_paused, prio), txPausedNow: bit(p.tx_paused, prio),
        marks: per(o.ecn_marked_packets[prio], p.ecn_marked_packets[prio]), drops: per(o.discards[prio], p.discards[prio]),
        notified: per(o.cp_notifications_sent[prio], p.cp_notifications_sent[prio]),
        storm: bit(p.storm, prio), storms: p.storms[prio], deadlock: bit(p.deadlocked, prio),
        used: p.rx_packets[prio] + p.tx_packets[prio] + p.discards[prio] + p.pfc_rx_frames[prio] + p.pfc_tx_frames[prio] > 0,
      });
    }
  });
  const gaps = is.poll.gaps.map((n, i) => n - was.poll.gaps[i]), bound = i => Math.min(is.poll.gap_bounds_seconds[i] ?? Infinity, is.poll.longest_gap_seconds);
  const polls = gaps.reduce((a, b) => a + b, 0);
  let below = 0, p99 = 0, worst = 0;
  gaps.forEach((n, i) => {
    if (n === 0) return;
    worst = bound(i);
    if (below * 100 < polls * 99) p99 = worst;
    below += n;
  });
  const peer = f => f.from ? f.from + ' > ' + f.peer : f.peer, name = f => peer(f) + ' ' + (f.from && !f.qp ? f.protocol : f.qp);
  const before = new Map((was.flows || []).map(f => [name(f), f]));
  const flows = (is.flows || []).map(f => {
    const o = before.get(name(f));
    return {name: name(f), peer: peer(f), qp: f.qp, allowed: f.rate_bps, bytes: f.tx_bytes, tx: o ? 8 * per(o.tx_bytes, f.tx_bytes) : null, cnps: o ? per(o.cnp_handled, f.cnp_handled) : null};
  });
  return {rows, flows, p99, worst, sent: per(was.np_cnp_sent, is.np_cnp_sent), notified: per(was.rp_cnp_handled, is.rp_cnp_handled)};
}

// Rows of the table: made once, then filled.
const rows = new Map();
function bar(cls) {
  const fill = el('i'), tick = el('b', {hidden: true});
  return {box: el('div', {class: 'fill ' + cls}, fill, tick), fill, tick};
}
function pauseCell() {
  const b = bar(''), text = el('span', {class: 'num'});
  return {...b, text, cell: el('span', {class: 'pause'}, b.box, text)};
}
function row(r) {
  const key = r.port + ' ' + r.prio;
  let e = rows.get(key);
  if (e) return e;
  e = {link: el('span', {class: 'link'}, r.port), rx: el('td', {class: 'n', 'data-label': 'receives'}), tx: el('td', {class: 'n', 'data-label': 'sends'}), queue: bar(''), occupancy: el('span', {class: 'num'}),
    byPeer: pauseCell(), peer: pauseCell(), marks: el('td', {class: 'n carrier', 'data-label': 'marks/s'}), drops: el('td', {class: 'n', 'data-label': 'drops/s'}), chips: el('td', {class: 'bare'})};
  e.tr = el('tr', {'data-port': r.port, 'data-priority': r.prio}, el('th', {scope: 'row'}, e.link), el('td', {class: 'bare'}, el('span', {class: r.lossless ? 'chip lossless' : 'chip', title: r.lossless ? 'lossless: PFC' : 'lossy'}, 'P' + r.prio)),
    e.rx, e.tx, el('td', {class: 'wide bare carrier'}, el('div', {class: 'queue'}, e.queue.box, e.occupancy)), el('td', {'data-label': 'stopped'}, e.byPeer.cell), el('td', {class: 'carrier', 'data-label': 'stops peer'}, e.peer.cell), e.marks, e.drops, e.chips);
  rows.set(key, e);
  ui.rows.append(e.tr);
  return e;
}

function pause(c, part, paused) {
  c.fill.style.transform = `scaleX(${part})`;
  c.cell.classList.toggle('held', paused);
  say(c.text, part > 0 ? percent(part) : paused ? 'paused' : '–');
}

function show(r) {
  const e = row(r);
  e.tr.hidden = !(everything || r.used || r.lossless);
  e.link.classList.toggle('down', !r.up);
  e.link.title = (r.up ? 'link of ' : 'no link; ') + rate(r.line);
  say(e.rx, si(r.rx));
  say(e.tx, si(r.tx));
  const full = r.full || Math.max(r.peak, 1);
  e.queue.fill.style.transform = `scaleX(${Math.min(1, r.queue / full)})`;
  e.queue.box.classList.toggle('over', r.room > 0 || r.full > 0 && r.queue > r.full);
  e.queue.tick.hidden = r.peak === 0;
  e.queue.tick.style.left = `calc(${Math.min(1, r.peak / full) * 100}% - 2px)`;
  e.queue.box.title = `${bytes(r.queue)} of ${r.full ? bytes(r.full) : 'no limit'}; most so far ${bytes(r.peak)}` + (r.room ? `; headroom in use: ${bytes(r.room)}` : '');
  say(e.occupancy, bytes(r.queue));
  pause(e.byPeer, r.rxPaused, r.rxPausedNow);
  pause(e.peer, r.txPaused, r.txPausedNow);
  say(e.marks, si(r.marks));
  say(e.drops, si(r.drops));
  e.tr.classList.toggle('idle', r.rx + r.tx + r.queue === 0 && !r.rxPausedNow && !r.txPausedNow);
  const chips = [];
  if (r.room > 0) chips.push('headroom');
  if (r.storm) chips.push('storm');
  if (r.deadlock) chips.push('deadlock');
  const past = !r.storm && r.storms > 0 ? r.storms + (r.storms === 1 ? ' storm' : ' storms') : '';
  if (e.chips.dataset.of !== chips + past) {
    e.chips.dataset.of = chips + past;
    e.chips.replaceChildren(...chips.map(c => el('span', {class: 'chip on'}, c)), ...(past ? [el('span', {class: 'chip', title: 'detected by the watchdog'}, past)] : []));
  }
}

// note puts values of now into the history of a chart.
function note(to, values) {
  for (const [name, v] of values) {
    const key = to + '\n' + name;
    if (!history.lines.has(key)) history.lines.set(key, {chart: to, name, v: new Array(history.t.length - 1).fill(null), n: history.lines.size});
    history.lines.get(key).v.push(v);
  }
}

function remember(d, c) {
  history.t.push(d.now_seconds);
  const byPort = f => d.ports.map(p => [p.port, c.rows.filter(r => r.port === p.port).reduce((sum, r) => sum + r[f], 0)]);
  note('sent', byPort('tx'));
  note('received', byPort('rx'));
  note('queues', c.rows.filter(r => r.full > 0 || r.peak > 0).map(r => [r.port + ' P' + r.prio, r.queue]));
  note('pauses', c.rows.filter(r => r.lossless).flatMap(r => [[`${r.port} P${r.prio} rx`, r.rxPaused], ...(d.host ? [] : [[`${r.port} P${r.prio} tx`, r.txPaused]])]));
  const sum = f => c.rows.reduce((s, r) => s + r[f], 0);
  note('signals', d.host ? [['CNPs handled', c.notified], ['CNPs sent', c.sent], ['drops', sum('drops')]] : [['ECN marks', sum('marks')], ['CNMs and CNPs sent', sum('notified')], ['drops', sum('drops')]]);
  note('gaps', [['longest', c.worst], ['p99', c.p99]].concat(d.pfc_response_seconds ? [['the headroom has room for', d.pfc_response_seconds]] : []));
  if (d.host) note('flows', c.flows.slice(0, 8).map(f => [f.name, f.allowed]));
  for (const [key, line] of history.lines) { // those that were not spoken of
    if (line.v.length < history.t.length) line.v.push(null);
    if (line.v.every(v => v == null)) history.lines.delete(key);
  }
  if (history.t.length > remembered) {
    history.t.shift();
    history.lines.forEach(l => l.v.shift());
  }
}

// most lines that a chart shows: those that were highest in what it shows.
const most = 8;
function draw() {
  const now = history.t.at(-1) ?? 0, from = Math.max(0, history.t.findIndex(t => t >= now - seconds));
  const times = history.t.slice(from).map(t => t - now);
  for (const [name, c] of Object.entries(chart)) {
    let lines = [...history.lines.values()].filter(l => l.chart === name).map(l => ({name: l.name, v: l.v.slice(from), n: l.n}));
    const height = l => Math.max(...l.v.map(v => v ?? 0));
    const steady = name === 'sent' || name === 'received' || name === 'signals' || name === 'gaps';
    if (!steady) lines = lines.filter(l => height(l) > 0);
    if (lines.length > most) lines = lines.map(l => ({...l, top: height(l)})).sort((a, b) => b.top - a.top || a.n - b.n).slice(0, most).sort((a, b) => a.n - b.n);
    lines.forEach((l, i) => Object.assign(l, name === 'flows' || name === 'queues' || name === 'pauses' ? color(name, l.name) : numbered(i)));
    c.show(times, lines, [-seconds, 0], history.t.length < 2 ? 'a moment' : name === 'pauses' ? 'nobody was stopped' : name === 'queues' ? 'all queues are empty' : 'nothing');
  }
}

// color is a line's as long as the page lives, whatever others come and go.
const colors = new Map();
function color(of, name) {
  if (!colors.has(of)) colors.set(of, new Map());
  const ofKind = colors.get(of);
  if (ofKind.size > 200) ofKind.clear();
  if (!ofKind.has(name)) ofKind.set(name, numbered(ofKind.size));
  return ofKind.get(name);
}

function flows(d, c) {
  flowsPart.hidden = chart.flows.figure.hidden = !d.host || d.flows_active + d.flows_completed === 0;
  if (flowsPart.hidden) return;
  say(flowsPart.querySelector('p'), `${d.flows_active} are being sent, ${d.flows_completed} were completed.` + (d.flows_active > c.flows.length ? ' Those that are allowed most:' : ''));
  const line = d.ports[0].rate_bps || 1;
  const cells = c.flows.map(f => {
    const b = bar('');
    b.fill.style.transform = `scaleX(${Math.min(1, f.allowed / line)})`;
    return el('tr', {}, el('th', {scope: 'row'}, f.peer), el('td', {class: 'n', 'data-label': 'queue pair'}, String(f.qp)), el('td', {class: 'wide bare'}, el('div', {class: 'queue'}, b.box, el('span', {class: 'num'}, rate(f.allowed)))),
      el('td', {class: 'n', 'data-label': 'sends'}, f.tx == null ? '–' : rate(f.tx)), el('td', {class: 'n', 'data-label': 'CNPs/s'}, f.cnps == null ? '–' : si(f.cnps)), el('td', {class: 'n', 'data-label': 'sent'}, bytes(f.bytes)));
  });
  ui.flows.replaceChildren(...cells);
}

function got(d) {
  if (frozen) return;
  const c = last && compare(last.d, d);
  if (last && !c && d.now_seconds === last.d.now_seconds) return; // the same answer
  if (last && !c) { // started anew
    ui.rows.replaceChildren();
    rows.clear();
    history.t.length = 0;
    history.lines.clear();
  }
  say(ui.name, d.node);
  say(ui.what, `${d.host ? 'agent' : 'switch'}, scheme ${d.scheme}, up ${span(d.now_seconds)}`);
  setState(ui.state, 'live', 'live');
  last = {d, rows: c ? c.rows : []};
  const plain = d.host && d.ports.length === 1; // nobody's frames wait in it
  page.classList.toggle('plain', plain);
  chart.queues.figure.hidden = plain;
  if (!c) return;
  const sum = f => c.rows.reduce((s, r) => s + r[f], 0);
  const paused = c.rows.filter(r => r.rxPausedNow).length, pausing = c.rows.filter(r => r.txPausedNow).length;
  tile('rx', 'receives', rate(sum('rx')));
  tile('tx', 'sends', rate(sum('tx')));
  tile('paused', 'paused by peers', String(paused), paused);
  if (!d.host) {
    tile('pausing', 'peers paused', String(pausing), pausing);
    tile('marks', 'ECN marks', si(sum('marks')) + '/s');
  } else {
    tile('flows', 'flows', si(d.flows_active));
    tile('notified', 'CNPs handled', si(c.notified) + '/s');
  }
  tile('drops', 'drops', si(sum('drops')) + '/s', sum('drops') > 0);
  tile('gap', 'longest poll gap', span(c.worst), d.pfc_response_seconds && c.worst > d.pfc_response_seconds);
  if (d.watchdog) {
    const storms = c.rows.reduce((s, r) => s + r.storms, 0), now = c.rows.some(r => r.storm);
    tile('watchdog', `watchdog (${d.watchdog})`, now ? 'storm' : storms ? storms + ' past' : 'quiet', now);
  }
  c.rows.forEach(show);
  let port = null; // the first row that is seen of each port has a line above it
  for (const r of c.rows) {
    const e = row(r);
    if (e.tr.hidden) continue;
    e.tr.classList.toggle('first', r.port !== port);
    e.tr.classList.toggle('again', r.port === port);
    port = r.port;
  }
  flows(d, c);
  remember(d, c);
  draw();
}

const poll = ask('live', 500, got, e => { if (!frozen) setState(ui.state, 'lost', 'nobody answers'); });
