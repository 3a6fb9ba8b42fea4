"use strict";
// The swimlanes. Only the rows in sight are drawn.

const ROW = 42, HEAD = 46, GUTTER = 330, BRACKET = 40, GAP = 12, EDGE = 20;
// The widths of the lanes of processes and of objects. If there is little space, lanes shrink to NARROW.
const WIDE = [124, 104], NARROW = [92, 58], BOLD = 8.2, SMALL = 6;

// svg makes an SVG element with attributes and a text.
function svg(name, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (text !== undefined) e.textContent = text;
  return e;
}

// cut shortens a text to a number of characters.
function cut(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

// tail shortens a name to a number of characters. It keeps the end, which distinguishes the name from others.
function tail(text, most) {
  return text.length > most ? "…" + text.slice(text.length - most + 1) : text;
}

// widths returns the widths of the lanes of processes and of objects, so that all lanes fit if possible.
function widths(processes, objects, room) {
  const left = room - GUTTER - BRACKET - GAP - EDGE;
  const least = processes * NARROW[0] + objects * NARROW[1], most = processes * WIDE[0] + objects * WIDE[1];
  if (left >= most || left < least) return WIDE; // if even narrow lanes do not fit, the user scrolls
  const share = (left - least) / (most - least);
  return [0, 1].map((i) => Math.floor(NARROW[i] + (WIDE[i] - NARROW[i]) * share));
}

// layout sets the position of each lane. room is the available width.
function layout(run, want, room) {
  const at = { process: new Map(), object: new Map(), lanes: [], width: 0 };
  const acts = (p, i) => (p.acts || want.detail === "all") && (!want.process || want.process === i + 1);
  const shown = (l) => !want.kind || l.kind === want.kind;
  const [PROCESS, OBJECT] = widths(run.processes.filter(acts).length, run.lanes[want.fold].filter(shown).length, room);
  let x = GUTTER + BRACKET;
  run.processes.forEach((p, i) => {
    if (!acts(p, i)) return;
    at.process.set(i + 1, x + PROCESS / 2);
    const sub = (p.syncs || []).slice(0, 2).join(" ") + ((p.syncs || []).length > 2 ? " …" : "");
    at.lanes.push({ x: x + PROCESS / 2, name: p.name, sub: [sub, p.era && "@" + p.era].filter(Boolean).join(" "), process: i + 1, wide: PROCESS });
    x += PROCESS;
  });
  x += GAP;
  const xs = new Map();
  run.lanes[want.fold].forEach((l, i) => {
    if (!shown(l)) return;
    xs.set(i + 1, x + OBJECT / 2);
    at.lanes.push({ x: x + OBJECT / 2, name: l.name, sub: l.size > 1 ? l.size + " objects" : l.kind, lane: i + 1, wide: OBJECT });
    x += OBJECT;
  });
  run.objects.forEach((o, i) => {
    const lane = o.lane[want.fold];
    if (xs.has(lane)) at.object.set(i + 1, xs.get(lane));
  });
  at.width = x + EDGE;
  at.wide = OBJECT;
  return at;
}

// drawHeads draws the names of the lanes.
function drawHeads(into, at) {
  into.replaceChildren();
  const s = svg("svg", { width: at.width, height: HEAD, "aria-hidden": "true" });
  s.append(svg("text", { x: 12, y: 20, class: "head" }, "what happened"), svg("text", { x: 12, y: 36, class: "soft" }, "time runs downwards"));
  for (const l of at.lanes) {
    const t = svg("text", { x: l.x, y: 20, "text-anchor": "middle", class: "head" }, tail(l.name, Math.floor(l.wide / BOLD)));
    t.append(svg("title", {}, l.name));
    const sub = svg("text", { x: l.x, y: 36, "text-anchor": "middle", class: "soft" }, cut(l.sub, Math.floor(l.wide / SMALL)));
    sub.append(svg("title", {}, l.sub));
    s.append(t, sub);
  }
  into.append(s);
}

// classOf returns the style class of a request.
function classOf(run, row) {
  const l = row.line, r = run.records[row.record];
  if ((l && l.refused) || r.o === "refusal") return "refused";
  const verb = l ? l.verb : r.v;
  if (verb === "create") return "create";
  if (verb === "delete" || (r.o === "commit" && !r.a)) return "delete";
  if (verb === "adopt" || verb === "release" || verb === "take over") return "own";
  return "change";
}

// tip returns the end of an arrow: a dot for a creation, a cross for a deletion, a ring for a refusal, else a diamond.
function tip(kind, x, y) {
  if (kind === "create") return svg("circle", { cx: x, cy: y, r: 7, class: "tip create" });
  if (kind === "delete") return svg("path", { d: `M${x - 6} ${y - 6}L${x + 6} ${y + 6}M${x + 6} ${y - 6}L${x - 6} ${y + 6}`, class: "cross delete" });
  if (kind === "refused") return svg("circle", { cx: x, cy: y, r: 6, class: "refused ring" });
  return svg("path", { d: `M${x} ${y - 8}L${x + 7} ${y}L${x} ${y + 8}L${x - 7} ${y}Z`, class: "tip " + kind });
}

// drawRow draws one row: its text and its arrow.
function drawRow(s, view, i) {
  const { run, at, rows } = view, row = rows[i], y = i * ROW, mid = y + ROW / 2;
  const line = row.line, r = run.records[row.record];
  const broken = line && line.breaks, race = broken && raced(line);
  const red = race ? "racetext" : "wrongtext";
  const band = svg("rect", { x: 0, y, width: at.width, height: ROW, class: "row" + (broken ? (race ? " raced" : " broken") : i === view.pick ? " pick" : i % 2 ? " zebra" : "") });
  s.back.append(band);
  if (i === view.pick) s.front.append(svg("rect", { x: 1, y: y + 1, width: at.width - 2, height: ROW - 2, class: "frame" }));
  if (view.hits.has(i)) s.front.append(svg("rect", { x: 4, y: y + 3, width: GUTTER - 14, height: ROW - 6, class: "hit" }));
  const number = row.begin ? "" : line ? String(line.n) : "";
  s.front.append(svg("text", { x: 32, y: y + 18, "text-anchor": "end", class: "head" }, (line && line.stale ? "~" : "") + number));
  const head = svg("text", { x: 40, y: y + 18, class: broken ? red : line ? "head" : "" }, cut(says(run, row), 42));
  const more = broken ? broken.join("; ") : adds(run, row);
  head.append(svg("title", {}, says(run, row) + (more ? "\n" + more : "")));
  const sub = broken ? adds(run, row) : more;
  s.front.append(head, svg("text", { x: 40, y: y + 34, class: "soft" }, cut(sub, 50)));
  if (!r || row.begin) return;
  const from = at.process.get(r.p), to = at.object.get(r.r);
  if (broken) {
    const text = svg("text", { x: GUTTER + BRACKET + 6, y: y + (to === undefined || r.o !== "commit" ? 26 : ROW - 4), class: red }, broken.join("; "));
    s.front.append(text);
  }
  if (r.o === "fault") {
    if (from !== undefined) s.front.append(svg("text", { x: from, y: mid + 5, "text-anchor": "middle", class: "fault" }, "⚡ " + r.v + (r.d ? " " + cut(r.d, 14) : "")));
    return;
  }
  if (from === undefined || to === undefined || r.o === "delivery" || r.o === "syncStart" || r.o === "syncEnd") return;
  const kind = broken && !race ? "wrong" : classOf(run, row), shape = classOf(run, row), ay = mid - 4;
  const side = to > from ? -1 : 1;
  s.front.append(svg("path", { d: `M${from} ${ay}L${to + side * 8} ${ay}`, class: "ask " + kind + (shape === "refused" ? " refused" : "") }));
  const t = tip(shape, to, ay);
  if (broken && !race) t.classList.add("wrong");
  s.front.append(t);
  s.front.append(svg("circle", { cx: from, cy: ay, r: 4, class: "tip " + kind }));
  s.front.append(svg("text", { x: to + side * 14, y: ay - 4, "text-anchor": side < 0 ? "end" : "start", class: kind }, (line ? line.verb : r.v) + (shape === "refused" ? " refused" : "")));
}

// drawSpans draws lanes, objects while they exist, the spans of processes (see spansOf), and deliveries.
function drawSpans(s, view, top, bottom) {
  const { run, at, rows } = view;
  const y = (record) => (record < 0 ? 0 : view.heights[record] * ROW - 4);
  for (const l of at.lanes) s.under.append(svg("path", { d: `M${l.x} ${top}V${bottom}`, class: l.process ? "proc" : "lane" }));
  for (const l of view.lives) {
    const x = at.object.get(l.object);
    if (x === undefined) continue;
    const a = y(l.from), b = l.to >= run.records.length ? rows.length * ROW : y(l.to);
    if (b < top || a > bottom) continue;
    s.under.append(svg("rect", { x: x - 9, y: Math.max(a, top - 20), width: 18, height: Math.max(2, Math.min(b, bottom + 20) - Math.max(a, top - 20)), rx: 5, class: "life" }));
  }
  for (const p of view.spans) {
    const x = at.process.get(p.process);
    if (x === undefined) continue;
    const a = y(p.from), b = p.to >= run.records.length ? rows.length * ROW : y(p.to);
    if (b < top || a > bottom) continue;
    const wide = p.what === "work" ? 8 : 34;
    const box = svg("rect", { x: x - wide / 2, y: Math.max(a, top - 20), width: wide, height: Math.max(3, Math.min(b, bottom + 20) - Math.max(a, top - 20)), rx: 3, class: p.what === "work" ? "life" : p.what });
    box.append(svg("title", {}, p.what === "stale" ? "the view of " + p.text + " is stale from here" : p.what + " " + p.text));
    s.under.append(box);
  }
  if (view.want.detail === "writes") return;
  for (const n of view.arrows) {
    if (n.b < top - 40 || n.a > bottom + 40) continue;
    const side = n.from > n.x ? 1 : -1;
    const g = svg("path", { d: `M${n.from} ${n.a}L${n.x} ${n.b}m${side * 8} -4l${-side * 8} 4l${side * 8} 3`, class: "news" + (n.news.late ? " late" : "") });
    g.append(svg("title", {}, processOf(run, n.news.process) + " is shown " + nameOf(run, n.news.object) + (n.news.late ? ", after it had acted without" : "")));
    s.under.append(g);
  }
}

// arrowsOf returns the positions of the deliveries between shown lanes, so that draw need not compute them.
function arrowsOf(view) {
  const out = [];
  for (const news of view.news) {
    const x = view.at.process.get(news.process), from = view.at.object.get(news.object);
    if (x === undefined || from === undefined) continue;
    out.push({ news, x, from, a: view.heights[news.from] * ROW - 4, b: view.heights[news.to] * ROW - 4 });
  }
  return out;
}

// drawBrackets draws the cycles of fights.
function drawBrackets(s, view) {
  const { run, rows } = view;
  for (const b of run.breaks) {
    if (!b.first) continue;
    const in_ = rows.map((row, i) => (row.line && row.line.n >= b.first && row.line.n <= b.last ? i : -1)).filter((i) => i >= 0);
    if (!in_.length) continue;
    const a = in_[0] * ROW + 4, z = (in_[in_.length - 1] + 1) * ROW - 4, x = GUTTER + 24;
    s.front.append(svg("path", { d: `M${x + 12} ${a}H${x}V${z}H${x + 12}M${x + 6} ${a - 4}l7 4l-7 4`, class: "bracket" }));
    const m = (a + z) / 2;
    s.front.append(svg("text", { x: x - 7, y: m, transform: `rotate(-90 ${x - 7} ${m})`, "text-anchor": "middle", class: "wrongtext" }, "for ever"));
  }
}

// firstInSight returns the index of the first row to draw.
function firstInSight(view) {
  return Math.max(0, Math.floor((view.box.scrollTop - HEAD) / ROW) - 4);
}

// draw draws the rows in sight, or the first 600 rows for printing.
function draw(view) {
  const box = view.box, whole = view.whole;
  const first = whole ? 0 : firstInSight(view);
  const last = whole ? Math.min(view.rows.length, 600) : Math.min(view.rows.length, first + Math.ceil(box.clientHeight / ROW) + 9);
  const top = first * ROW, bottom = last * ROW;
  view.drawn = first;
  const s = svg("svg", { width: view.at.width, height: bottom - top, viewBox: `0 ${top} ${view.at.width} ${Math.max(1, bottom - top)}`, role: "img", "aria-label": "Swimlanes of the steps in sight" });
  s.style.top = top + "px";
  const layer = { back: svg("g", {}), under: svg("g", {}), front: svg("g", {}) };
  for (let i = first; i < last; i++) drawRow(layer, view, i);
  drawSpans(layer, view, top, bottom);
  drawBrackets(layer, view);
  s.append(layer.back, layer.under, layer.front);
  s.addEventListener("click", (e) => view.clicked(e, top));
  view.tall.style.height = view.rows.length * ROW + "px";
  view.tall.style.width = view.at.width + "px";
  view.tall.replaceChildren(s);
}
