// The page of replays: what runs, what was seen of it so far, and the claims.

const page = document.getElementById('page');
const ui = {
  id: el('h1'), title: el('span', {class: 'sub'}), state: el('span', {class: 'state'}, 'asking'), report: el('a', {class: 'button', hidden: true}, 'Report'),
  bar: el('i'), far: el('p', {class: 'small num'}), fault: el('p', {class: 'alarm', hidden: true}), source: el('p', {class: 'small'}),
  index: el('ul', {class: 'runs'}), follow: el('button', {'aria-pressed': 'true'}, 'Follow what runs'), runs: el('ul', {class: 'runs'}), other: el('p', {class: 'small'}),
  of: el('span', {class: 'sub'}), detail: el('span', {class: 'sub'}), map: el('div', {class: 'map'}), mapped: el('figure', {class: 'chart'}),
  claimHead: el('tr'), claims: el('tbody'), counts: el('p', {class: 'small'}),
};
const several = el('section', {hidden: true}, el('h2', {}, 'Experiments'), ui.index);
page.append(
  el('header', {class: 'head'}, ui.id, ui.title, el('span', {class: 'space'}), ui.state, ui.report),
  ui.source, el('div', {class: 'meter big', role: 'progressbar', 'aria-label': 'progress'}, ui.bar), ui.far, ui.fault,
  several,
  el('h2', {}, 'Runs ', ui.follow), ui.runs, ui.other,
  el('h2', {}, 'So far ', ui.of),
);
const time = v => short(span(v));
const overlays = {
  total_bps: new Chart('Sent', {note: 'bit/s, by all hosts together', least: 1e6, x: time}),
  queue_bytes: new Chart('Longest queue', {note: 'of any switch', format: bytes, least: 1000, x: time}),
  paused_ports: new Chart('Ports paused', {note: 'at a time, by PFC', format: v => String(+v.toFixed(1)), least: 4, x: time}),
  notifications_per_second: new Chart('CNPs', {note: 'and CNMs a second, that reaction points were told of', least: 1000, x: time}),
};
const details = {
  flows: new Chart('Flows', {note: 'bit/s that arrived', least: 1e6, x: time}),
  queues: new Chart('Queues', {note: 'egress, the longest of each place', format: bytes, least: 1000, x: time}),
};
ui.mapped.append(el('figcaption', {}, el('span', {class: 'title'}, 'Pauses'), el('span', {class: 'note'}, 'which ports were stopped by PFC, and when')), ui.map);
const claimsPart = el('section', {}, el('h2', {}, 'Claims'), ui.counts, el('div', {class: 'scroll'}, el('table', {class: 'claims cards'}, el('thead', {}, ui.claimHead), ui.claims)));
page.append(el('div', {class: 'charts'}, ...Object.values(overlays).map(c => c.figure)), el('h2', {}, 'In detail ', ui.detail),
  el('div', {class: 'charts'}, ...Object.values(details).map(c => c.figure)), ui.mapped, claimsPart);

let shown = '', chosen = null, follow = true, now = null;
const data = new Map(); // by number of the run

ui.follow.addEventListener('click', () => {
  follow = !follow;
  if (follow) shown = '';
  poll();
});
night.addEventListener('change', () => { for (const e of ui.runs.children) e.dataset.key = ''; poll(); });

// cards fills a list with a card for each thing, and keeps those that are there.
function cards(list, things, key, make, fill) {
  things.forEach((t, i) => {
    let e = list.children[i];
    if (!e || e.dataset.key !== key(t)) {
      const fresh = make(t);
      fresh.dataset.key = key(t);
      if (e) e.replaceWith(fresh);
      else list.append(fresh);
      e = fresh;
    }
    fill(e, t);
  });
  while (list.children.length > things.length) list.lastChild.remove();
}

function card(name, drawing, choose) {
  const act = e => { if (e.type === 'click' || e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(); } };
  return el('li', {class: 'run', tabindex: 0, role: 'button', click: act, keydown: act}, el('div', {class: 'line'}, drawing, el('span', {class: 'name', title: name}, name), el('span', {class: 'what'})), el('div', {class: 'meter'}, el('i')));
}
function fill(e, part, what, on) {
  e.querySelector('.meter > i').style.transform = `scaleX(${part})`;
  say(e.querySelector('.what'), what);
  e.classList.toggle('chosen', on);
}

function header(s) {
  const x = s.shown, one = s.experiments.length === 1;
  say(ui.id, x ? x.id : s.command);
  say(ui.title, x ? x.title : '');
  say(ui.source, x ? x.source : '');
  document.title = `${s.over ? '' : Math.round(s.part * 100) + ' % '}${s.command} – photon`;
  if (s.fault) setState(ui.state, 'lost', 'failed');
  else if (s.over) setState(ui.state, 'done', 'done');
  else setState(ui.state, 'live', 'running');
  ui.fault.hidden = !s.fault;
  say(ui.fault, s.fault || '');
  ui.bar.style.transform = `scaleX(${s.over && !s.fault ? 1 : s.part})`;
  ui.bar.parentElement.setAttribute('aria-valuenow', Math.round(s.part * 100));
  say(ui.far, (s.over ? `done in ${span(s.elapsed_seconds)}` : `${Math.floor(s.part * 100)} %, ${span(Math.round(s.elapsed_seconds * 10) / 10)} so far` + (s.left_seconds != null ? `, about ${span(Math.max(1, Math.round(s.left_seconds)))} left` : '')));
  const entry = s.experiments.find(e => x && e.id === x.id);
  ui.report.hidden = !(entry && entry.report);
  if (entry && entry.report) ui.report.setAttribute('href', entry.report);
  several.hidden = one;
  if (!one) {
    cards(ui.index, s.experiments, e => e.id, e => card(e.id, null, () => { shown = e.id; follow = false; chosen = null; poll(); }),
      (e, i) => fill(e, i.part, i.report ? 'report' : i.begun ? Math.floor(i.part * 100) + ' %' : '', x && i.id === x.id));
  }
}

function runs(x) {
  const several = x.worlds.length > 1;
  const main = x.runs.filter(r => !r.other), others = x.runs.filter(r => r.other);
  cards(ui.runs, main, r => r.number + r.name, r => card(r.name, swatch(r), () => { chosen = r.number; follow = false; shown = now.shown.id; poll(); }), (e, r) => {
    const seeds = r.seeds > 1 ? ` ${r.ended}/${r.seeds}` : '';
    const what = {waits: 'waits', ended: r.seen ? 'done' : 'done before', failed: 'failed', runs: Math.floor(r.part * 100) + ' %'}[r.state];
    fill(e, r.part, (several ? r.world + ' ' : '') + what + seeds, r.number === chosen);
  });
  ui.other.hidden = others.length === 0;
  say(ui.other, `Choices that the paper leaves open, made otherwise: ${others.filter(r => r.state === 'ended').length} of ${others.length} kinds of runs are done.`);
}

// wanted are the runs that are compared: those in the same world, at the same
// value of the sweep, as the chosen one.
function wanted(x) {
  const c = x.runs.find(r => r.number === chosen);
  return c ? x.runs.filter(r => r.seen && r.world === c.world && r.value === c.value).slice(0, 24) : [];
}

async function fetchSeen(x) {
  const list = wanted(x).filter(r => !(data.get(r.number) || {}).whole || r.number === chosen && !data.get(r.number).detailed);
  if (list.length === 0) return;
  const answer = await fetch(`seen?runs=${list.map(r => r.number + ':' + (data.get(r.number)?.n ?? 0)).join(',')}&details=${chosen}`, {signal: AbortSignal.timeout(10000)});
  if (!answer.ok) throw new Error(await answer.text());
  const got = await answer.json();
  for (const r of list) {
    const s = got[r.number];
    if (!s) continue;
    const d = data.get(r.number) || {n: 0, lines: Object.fromEntries(Object.keys(overlays).map(k => [k, []]))};
    if (s.from !== d.n) continue;
    for (const k of Object.keys(overlays)) d.lines[k].push(...s[k]);
    Object.assign(d, {n: s.n, spans: s.spans, duration: s.duration_seconds, whole: r.state !== 'runs'});
    if (r.number === chosen) Object.assign(d, {flows: s.flows || [], queues: s.queues || [], stops: s.stops || [], detailed: r.state !== 'runs'});
    data.set(r.number, d);
  }
}

// longest is the time that the charts show.
const grid = d => Array.from({length: d.spans}, (_, i) => (i + 1) * d.duration / d.spans);
const padded = (v, n) => v.length < n ? v.concat(new Array(n - v.length).fill(null)) : v;

function draw(x) {
  const list = wanted(x).filter(r => data.has(r.number) && data.get(r.number).n > 0);
  const longest = list.map(r => data.get(r.number)).reduce((a, b) => a && a.duration >= b.duration ? a : b, null);
  const c = x.runs.find(r => r.number === chosen);
  say(ui.of, c ? (x.worlds.length > 1 ? (c.world === 'dpdk' ? 'on DPDK' : 'in virtual time') : '') + (c.value ? ` at ${c.value}` : '') : '');
  for (const [key, chart] of Object.entries(overlays)) {
    const lines = list.map(r => {
      const d = data.get(r.number), v = d.lines[key];
      const same = d.duration === longest.duration;
      const on = same ? v : Array.from({length: longest.spans}, (_, i) => v[Math.floor((i + 0.5) / longest.spans * longest.duration / d.duration * d.spans)] ?? null);
      return {name: r.name, color: r.color, dark: r.dark, dash: r.dash, v: padded(on, longest.spans)};
    });
    chart.show(longest ? grid(longest) : [], lines, [0, longest ? longest.duration : 1], 'nothing was seen yet');
  }
  const d = data.get(chosen);
  say(ui.detail, c ? c.name + (x.worlds.length > 1 ? ', ' + c.world : '') : '');
  for (const [key, chart] of Object.entries(details)) {
    const lines = d && d[key] && d.n > 0 ? d[key].map(l => ({name: l.name, v: padded(l.v, d.spans), ...color(key, l.name)})) : [];
    chart.show(d ? grid(d) : [], lines, [0, d ? d.duration : 1], !d || d.n === 0 ? 'nothing was seen yet' : d.detailed && key === 'flows' ? 'too many flows, or forgotten' : 'all queues are empty');
  }
  pauses(d);
}

// color is a line's as long as its run is shown, whatever lines come and go.
const colors = new Map();
function color(of, name) {
  if (colors.of !== chosen) {
    colors.clear();
    colors.of = chosen;
  }
  const key = of + '\n' + name;
  if (!colors.has(key)) colors.set(key, numbered([...colors.keys()].filter(k => k.startsWith(of)).length));
  return colors.get(key);
}

// pauses draws a row for each port: the darker, the longer it was stopped.
function pauses(d) {
  const lines = d && d.stops || [];
  ui.map.hidden = lines.length === 0;
  ui.mapped.querySelector('.note').textContent = lines.length ? 'which ports were stopped by PFC, and when' : 'nobody was stopped' + (d ? '' : ' yet');
  const key = lines.map(l => l.name).join('\n');
  if (ui.map.dataset.of !== key) {
    ui.map.dataset.of = key;
    ui.map.replaceChildren(...lines.flatMap(l => [el('span', {class: 'name'}, l.name), el('canvas', {width: d.spans, height: 1, role: 'img', 'aria-label': 'pauses of ' + l.name}), el('span', {class: 'num sub'})]),
      el('span'), el('span', {class: 'ends sub'}, el('span', {}, '0'), el('span', {}, d ? time(d.duration) : '')), el('span'));
  }
  lines.forEach((l, i) => {
    const canvas = ui.map.children[3 * i + 1], to = canvas.getContext('2d');
    to.clearRect(0, 0, canvas.width, 1);
    to.fillStyle = tint('--over');
    l.v.forEach((v, k) => {
      to.globalAlpha = v;
      if (v > 0) to.fillRect(k, 0, 1, 1);
    });
    say(ui.map.children[3 * i + 2], percent(l.v.reduce((a, b) => a + b, 0) / Math.max(1, l.v.length)));
  });
}

function claims(x) {
  claimsPart.hidden = x.claims.length === 0;
  const key = JSON.stringify([x.claims, x.worlds]);
  if (ui.claims.dataset.of === key) return;
  ui.claims.dataset.of = key;
  const worlds = x.worlds.length > 1 ? x.worlds.map(w => 'ours, ' + w) : ['ours'];
  ui.claimHead.replaceChildren(...['claim', 'schemes', 'paper', ...worlds, 'verdict'].map((t, i) => el('th', {scope: 'col', class: i > 1 && i < 3 + worlds.length ? 'n' : null}, t)));
  const count = new Map();
  ui.claims.replaceChildren(...x.claims.map(c => {
    const verdicts = [...new Set(c.verdicts.filter(v => v))];
    for (const v of c.verdicts) if (v) count.set(v, (count.get(v) || 0) + 1);
    return el('tr', {}, el('td', {class: 'wide bare'}, c.text), el('td', {class: 'wide bare'}, c.schemes), el('td', {class: 'n', 'data-label': 'paper'}, c.paper), ...worlds.map((w, i) => el('td', {class: 'n', 'data-label': w}, (c.measured || [])[i] || '…')),
      el('td', {class: 'bare'}, ...(verdicts.length === 0 ? [el('span', {class: 'v not-run'}, 'not yet')] : verdicts.map(v => el('span', {class: 'v ' + v}, v)))));
  }));
  ui.counts.replaceChildren(`${x.claims.length} claims of the paper; so far `, ...(count.size === 0 ? ['none is judged'] : [...count].flatMap(([v, n], i) => [i ? ', ' : '', n + ' ', el('span', {class: 'v ' + v}, v)])), '.');
}

async function got(s) {
  // Another command serves at this address now: what is known is of other runs with the same numbers.
  if (now && now.began_us !== s.began_us) {
    location.reload();
    return false;
  }
  now = s;
  header(s);
  const x = s.shown;
  if (!x) return;
  if (follow && x.last >= 0) chosen = x.last;
  if (!x.runs.some(r => r.number === chosen)) chosen = (x.runs.find(r => r.seen) || {number: null}).number;
  ui.follow.setAttribute('aria-pressed', String(follow));
  ui.follow.hidden = s.over;
  runs(x);
  claims(x);
  try {
    await fetchSeen(x);
  } catch (e) {
    return lost();
  }
  draw(x);
}

function lost() {
  setState(ui.state, 'lost', now && now.over ? 'photon has ended' : 'nobody answers');
}

const poll = ask(() => 'state' + (shown ? '?of=' + encodeURIComponent(shown) : ''), () => now && now.over ? 2000 : 400, got, lost);
