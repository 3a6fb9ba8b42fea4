"use strict";
// The state of the world and of each process after a record. Positions in the data count from 1 if 0 means none.

// linesOf returns a version's YAML. The data contains how a version differs from an earlier version of its object.
function linesOf(run, version) {
  const cache = run.cache || (run.cache = new Map());
  const chain = [];
  for (let v = version; v && !cache.has(v); v = run.versions[v - 1].v) chain.push(v);
  while (chain.length) {
    const v = chain.pop(), j = run.versions[v - 1];
    const base = j.v ? cache.get(j.v) : [];
    if (j.p || !j.l) {
      const lines = base.slice();
      for (let i = 0; i < (j.p || []).length; i += 2) lines[j.p[i]] = j.p[i + 1];
      cache.set(v, lines);
      continue;
    }
    const tail = j.e ? base.slice(base.length - j.e) : [];
    cache.set(v, base.slice(0, j.h || 0).concat(j.l, tail));
  }
  return version ? cache.get(version).map((i) => run.text[i]) : [];
}

// newProcess returns the state of a process that has just started.
function newProcess() {
  return { cache: new Map(), queue: new Map(), awaits: new Map(), busy: new Map(), held: new Set(), down: false };
}

// emptyState returns the state before the first record.
function emptyState(run) {
  return { upto: -1, objects: new Map(), processes: run.processes.map(newProcess), kinds: run.processes.map(() => new Set()) };
}

// forward applies the records up to an index to a state.
function forward(run, state, upto) {
  for (let i = state.upto + 1; i <= upto; i++) {
    const r = run.records[i];
    const p = r.p ? state.processes[r.p - 1] : null;
    const step = steps[r.o];
    if (step) step(run, state, r, p, i);
  }
  state.upto = upto;
  return state;
}

// steps contains, for each kind of record, a function that changes the state.
const steps = {
  commit(run, state, r, p, i) {
    if (r.a) state.objects.set(r.r, r.a);
    else state.objects.delete(r.r);
    if (p && r.f !== undefined && state.kinds[r.p - 1].has(run.objects[r.r - 1].kind)) p.awaits.set(i + 1, i);
  },
  delivery(run, state, r, p) {
    if (!p || !r.r) return;
    state.kinds[r.p - 1].add(run.objects[r.r - 1].kind);
    if (r.a) p.cache.set(r.r, r.a);
    else p.cache.delete(r.r);
    for (const k of r.q || []) p.queue.set(k, 1);
    for (const [c, at] of p.awaits) {
      const w = run.records[at];
      if (w.r === r.r && (c === r.c || c < r.c || !r.a || r.a === w.a)) p.awaits.delete(c);
    }
  },
  syncStart(run, state, r, p) {
    if (!p) return;
    const key = keyOf(run, r);
    for (const k of p.queue.keys()) if (k === key || k.endsWith("/" + key)) p.queue.delete(k);
    p.busy.set(key, r.z || 0);
  },
  syncEnd(run, state, r, p) {
    if (!p) return;
    const key = keyOf(run, r);
    p.busy.delete(key);
    if (r.d) p.queue.set(key, 2);
  },
  fault(run, state, r, p) {
    if (!p) return;
    if (r.v === "hold") p.held.add(r.d);
    if (r.v === "release") p.held.delete(r.d);
    if (r.v === "crash" || r.v === "restart" || r.v === "switch" || r.v === "stop") {
      const held = p.held;
      state.processes[r.p - 1] = newProcess();
      state.processes[r.p - 1].held = held;
      state.processes[r.p - 1].down = r.v === "crash" || r.v === "stop";
    }
  },
};

// keyOf returns the queue's key of a sync: NAMESPACE/NAME. Objects' names omit the namespace default.
function keyOf(run, r) {
  const name = r.r ? run.objects[r.r - 1].name : r.f ? run.objects[r.f - 1].name : "";
  const parts = name.split("/");
  return parts.length > 2 ? parts[0] + "/" + parts[2] : "default/" + (parts[1] || "");
}

// stateAt returns the state after a record. It continues from the last returned state if that is not later.
function stateAt(run, upto) {
  let s = run.state;
  if (!s || s.upto > upto) s = emptyState(run);
  run.state = forward(run, s, upto);
  return run.state;
}

// timeOf returns the virtual time of a record.
function timeOf(run, i) {
  while (i > 0 && !run.records[i].t) i--;
  return run.records[i] ? run.records[i].t || "0s" : "0s";
}

// replacedAt returns the index of the record that replaced a version, or -1 for the latest version.
function replacedAt(run, version) {
  if (!run.replaced) {
    run.replaced = new Map();
    run.records.forEach((r, i) => {
      if (r.o === "commit" && r.b && !run.replaced.has(r.b)) run.replaced.set(r.b, i);
    });
  }
  const i = run.replaced.get(version);
  return i === undefined ? -1 : i;
}

// seenBy returns the deliveries and reads of a version up to a record.
function seenBy(run, version, upto) {
  const out = [];
  for (let i = 0; i <= upto; i++) {
    const r = run.records[i];
    if ((r.o === "delivery" || r.o === "read") && r.a === version) out.push({ process: r.p, record: i, how: r.o });
  }
  return out;
}

// diffOf returns a line diff. Between the equal lines at both ends, it contains the longest common lines, unless the
// texts are too long for this.
function diffOf(a, b) {
  let h = 0, e = 0;
  while (h < a.length && h < b.length && a[h] === b[h]) h++;
  while (e < a.length - h && e < b.length - h && a[a.length - 1 - e] === b[b.length - 1 - e]) e++;
  const x = a.slice(h, a.length - e), y = b.slice(h, b.length - e);
  const out = a.slice(0, h).map((text) => ({ sign: " ", text }));
  if (x.length * y.length > 250000) {
    x.forEach((text) => out.push({ sign: "-", text }));
    y.forEach((text) => out.push({ sign: "+", text }));
  } else {
    out.push(...common(x, y));
  }
  a.slice(a.length - e).forEach((text) => out.push({ sign: " ", text }));
  return out;
}

// common returns a diff with the longest common lines of two texts.
function common(x, y) {
  const w = y.length + 1, t = new Uint32Array((x.length + 1) * w);
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      t[i * w + j] = x[i] === y[j] ? t[(i + 1) * w + j + 1] + 1 : Math.max(t[(i + 1) * w + j], t[i * w + j + 1]);
  const out = [];
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) out.push({ sign: " ", text: (j++, x[i++]) });
    else if (j >= y.length || (i < x.length && t[(i + 1) * w + j] >= t[i * w + j + 1])) out.push({ sign: "-", text: x[i++] });
    else out.push({ sign: "+", text: y[j++] });
  }
  return out;
}
