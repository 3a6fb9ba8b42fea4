"use strict";
// The rows that are shown, their texts, and the positions of records between them.

// rowsOf returns the rows that want selects: first the initial world, then lines or records in order.
function rowsOf(run, want) {
  const rows = [{ record: Math.max(run.first - 1, -1), line: null, begin: true }];
  const byRecord = new Map(run.lines.map((l) => [l.record, l]));
  const add = (record, line) => {
    const r = run.records[record];
    if (want.process && r.p !== want.process) return;
    if (want.kind && !(r.r && run.objects[r.r - 1].kind === want.kind)) return;
    rows.push({ record, line });
  };
  if (want.detail === "all") {
    for (let i = run.first; i < run.records.length; i++) {
      const r = run.records[i];
      if (r.o === "fault" && r.v === "synced") continue;
      add(i, byRecord.get(i) || null);
    }
  } else {
    for (const l of run.lines) if (want.detail !== "writes" || l.write || l.breaks) add(l.record, l);
    rows.sort((a, b) => a.record - b.record);
  }
  return rows;
}

// nameOf returns an object's name, or "" for no object.
function nameOf(run, object) {
  return object ? run.objects[object - 1].name : "";
}

// processOf returns a process's name, or "" for no process.
function processOf(run, process) {
  return process ? run.processes[process - 1].name : "";
}

// says returns a row as a sentence.
function says(run, row) {
  if (row.begin) return "the initial state";
  const l = row.line, r = run.records[row.record];
  if (l) return [l.who, l.verb, l.object].filter(Boolean).join(" ");
  const who = processOf(run, r.p), what = nameOf(run, r.r);
  switch (r.o) {
    case "delivery": return who + " is shown " + what + (r.a ? "" : ", which is deleted");
    case "read": return who + " reads " + (what || "a list");
    case "syncStart": return who + " begins to reconcile " + (what || nameOf(run, r.f));
    case "syncEnd": return who + (r.d ? " fails to reconcile " : " has reconciled ") + (what || nameOf(run, r.f));
    case "settled": return "the world has settled";
  }
  return [who, r.v || r.o, what].filter(Boolean).join(" ");
}

// adds returns more text for a row: what changed, and why.
function adds(run, row) {
  if (row.begin) return run.first + (run.first === 1 ? " record" : " records") + " before the controllers began";
  const l = row.line, r = run.records[row.record];
  const words = l ? [l.did] : [r.d];
  if (r.q && !l) words.push("queues " + r.q.join(", "));
  if (r.x && !l) words.push("awaited by " + r.x.join(", "));
  if (l && l.because) words.push("because " + l.because);
  return words.filter(Boolean).join(" · ");
}

// matches returns the indexes of the rows that contain all words of a text.
function matches(run, rows, text) {
  const words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  if (!words.length) return [];
  const out = [];
  rows.forEach((row, i) => {
    const all = (says(run, row) + " " + adds(run, row) + " " + ((row.line && row.line.breaks) || []).join(" ")).toLowerCase();
    if (words.every((w) => all.includes(w))) out.push(i);
  });
  return out;
}

// raced reports whether all violations in a line are lost races: the actor could not have seen the latest state.
function raced(line) {
  return line.breaks.every((b) => b.startsWith("RACES"));
}

// rowBefore returns the index of the last row at or before a record.
function rowBefore(rows, record) {
  let lo = 0, hi = rows.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (rows[mid].record <= record) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

// heightsOf returns the vertical position of each record, in rows. A record without a row is between two rows.
function heightsOf(run, rows) {
  const out = new Float64Array(run.records.length + 1);
  let i = 0;
  for (let record = 0; record <= run.records.length; record++) {
    while (i + 1 < rows.length && rows[i + 1].record <= record) i++;
    const from = rows[i].record, to = i + 1 < rows.length ? rows[i + 1].record : run.records.length;
    out[record] = i + 0.5 + Math.min(1, Math.max(0, (record - from) / Math.max(1, to - from)));
  }
  return out;
}

// livesOf returns the ranges of records in which each object exists.
function livesOf(run) {
  const open = new Map(), lives = [];
  run.records.forEach((r, i) => {
    if (r.o !== "commit" || !r.r) return;
    if (!open.has(r.r)) open.set(r.r, r.b ? -1 : i);
    if (!r.a) {
      lives.push({ object: r.r, from: open.get(r.r), to: i });
      open.delete(r.r);
    }
  });
  for (const [object, from] of open) lives.push({ object, from, to: run.records.length });
  return lives;
}

// spansOf returns the ranges of records in which a process works, is down, has a paused watch, or has an outdated
// version that it uses later.
function spansOf(run) {
  const open = new Map(), spans = [];
  const begin = (what, p, i, text) => open.set(what + " " + p + " " + text, { what, process: p, from: i, text });
  const end = (what, p, i, text) => {
    const key = what + " " + p + " " + text, s = open.get(key);
    if (s) spans.push(Object.assign(s, { to: i }));
    open.delete(key);
  };
  run.records.forEach((r, i) => {
    if (r.o === "syncStart") begin("work", r.p, i, keyOf(run, r));
    if (r.o === "syncEnd") end("work", r.p, i, keyOf(run, r));
    if (r.o !== "fault") return;
    if (r.v === "hold") begin("held", r.p, i, r.d);
    if (r.v === "release") end("held", r.p, i, r.d);
    if (r.v === "crash" || r.v === "restart" || r.v === "switch" || r.v === "stop")
      for (const s of [...open.values()]) if (s.process === r.p && s.what !== "held") end(s.what, s.process, i, s.text);
    if (r.v === "crash" || r.v === "stop") begin("down", r.p, i, "");
  });
  for (const s of open.values()) spans.push(Object.assign(s, { to: run.records.length }));
  for (const l of run.lines) if (l.stale) for (const v of staleIn(run, l.record)) if (v.since >= 0)
    spans.push({ what: "stale", process: run.records[l.record].p, from: v.since, to: l.record, text: nameOf(run, v.object) });
  return spans;
}

// staleIn returns the outdated versions that a record's actor used. Each is an object, the version that the actor saw,
// and the version that was stored.
function staleIn(run, record) {
  const out = [], r = run.records[record];
  const first = record > 0 && run.records[record - 1].s === r.s && run.records[record - 1].r === r.r ? run.records[record - 1] : r;
  if (first.w && first.b && first.w !== first.b)
    out.push({ object: first.r, saw: first.w, stood: first.b, since: replacedAt(run, first.w) });
  const since = first.z ? replacedAt(run, first.z) : -1;
  if (since >= 0 && since < record && first.f !== first.r)
    out.push({ object: first.f, saw: first.z, stood: standing(run, first.f, record), since });
  return out;
}

// standing returns the version of an object that was stored before a record, or 0.
function standing(run, object, record) {
  for (let i = record - 1; i >= 0; i--) {
    const r = run.records[i];
    if (r.o === "commit" && r.r === object) return r.a || 0;
  }
  return 0;
}

// newsOf returns the deliveries of writes to processes. late: the process acted between the write and the delivery.
function newsOf(run) {
  const acts = new Map();
  for (const l of run.lines) {
    const p = run.records[l.record].p;
    if (!acts.has(p)) acts.set(p, []);
    acts.get(p).push(l.record);
  }
  const news = [];
  run.records.forEach((r, i) => {
    if (r.o !== "delivery" || !r.c || !r.r) return;
    const from = r.c - 1;
    news.push({ object: r.r, process: r.p, from, to: i, late: (acts.get(r.p) || []).some((a) => a > from && a < i) });
  });
  return news;
}
