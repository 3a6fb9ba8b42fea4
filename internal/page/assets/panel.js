"use strict";
// The panel beside the lanes: the chosen step, the owners, the caches of the processes, and the chosen object.

// el makes an element. Strings in children become text.
function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const k in attributes || {}) {
    if (k === "on") e.addEventListener("click", attributes[k]);
    else if (attributes[k] !== undefined) e.setAttribute(k, attributes[k]);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}

// diffBlock shows a diff. Unless all is set, it leaves out equal lines that are not near a change. With a sign ("+" or
// "-"), it shows only the equal lines and the lines with this sign.
function diffBlock(lines, all, sign) {
  const near = lines.map((l, i) => all || lines.slice(Math.max(0, i - 2), i + 3).some((x) => x.sign !== " "));
  const pre = el("pre", { tabindex: "0" });
  let gap = false;
  lines.forEach((l, i) => {
    if (sign && l.sign !== " " && l.sign !== sign) return;
    if (!near[i]) {
      if (!gap) pre.append(el("span", { class: "same" }, "  ⋯"));
      gap = true;
      return;
    }
    gap = false;
    pre.append(el("span", { class: l.sign === "+" ? "add" : l.sign === "-" ? "del" : "same" }, l.sign + " " + l.text));
  });
  return pre;
}

// link returns a button with an object's name. A click shows the object.
function link(view, object, name) {
  return el("button", { type: "button", class: "link", on: () => view.choose(object) }, name || nameOf(view.run, object));
}

// stepPart shows the step. If the actor used outdated versions, it also shows these and the current versions.
function stepPart(view, row) {
  const { run } = view, l = row.line, parts = [];
  parts.push(el("p", { class: "step", id: "step" }, (l ? l.n + "  " : "") + says(run, row)));
  if (l && l.breaks) for (const b of l.breaks) parts.push(el("p", { class: raced(l) ? "late" : "bad" }, b));
  if (adds(run, row)) parts.push(el("p", { class: "note" }, adds(run, row)));
  if (row.begin) return parts;
  for (const v of l && l.stale ? staleIn(run, row.record) : []) {
    const told = (x) => linesOf(run, x).filter((line) => !/^ *(resourceVersion|generation|uid):/.test(line));
    const saw = told(v.saw), stood = told(v.stood);
    const d = diffOf(saw, stood);
    const side = (sign) => diffBlock(d, false, sign);
    parts.push(el("h2", {}, "It acted on an old view of " + nameOf(run, v.object)));
    parts.push(el("div", { class: "two", id: "stale" },
      el("div", {}, el("strong", {}, "acted on"), side("-")),
      el("div", {}, el("strong", {}, "was true"), v.stood ? side("+") : el("p", { class: "bad" }, "gone"))));
  }
  const r = run.records[row.record];
  if (r.o === "commit" && r.b && r.a)
    parts.push(el("details", {}, el("summary", {}, "What it changed"), diffBlock(diffOf(linesOf(run, r.b), linesOf(run, r.a)), false)));
  return parts;
}

// mostShown is the maximal number of objects in the tree of owners.
const mostShown = 60;

// treePart shows the objects as a tree of owners.
function treePart(view, state) {
  const { run } = view, byUID = new Map(), under = new Map(), roots = [];
  for (const [o, v] of state.objects) byUID.set(run.versions[v - 1].u, o);
  for (const [o, v] of state.objects) {
    const owners = run.versions[v - 1].o || [];
    const real = owners.filter((w) => byUID.has(w.uid));
    const parent = real.find((w) => w.controller) || real[0];
    if (!parent || byUID.get(parent.uid) === o) roots.push(o);
    else under.set(byUID.get(parent.uid), (under.get(byUID.get(parent.uid)) || []).concat(o));
  }
  let left = mostShown;
  const branch = (list, seen) => {
    const ul = el("ul", {});
    list.sort((a, b) => nameOf(run, a).localeCompare(nameOf(run, b), "en", { numeric: true }));
    for (const o of list) {
      if (left-- <= 0 || seen.has(o)) continue;
      const kids = under.get(o) || [];
      ul.append(el("li", {}, link(view, o), ...ownerNotes(run, state, byUID, o), kids.length ? branch(kids, new Set([...seen, o])) : null));
    }
    return ul;
  };
  const tree = branch(roots, new Set());
  const parts = [el("h2", {}, "Owners after this step"), state.objects.size ? tree : el("p", { class: "note" }, "there are no objects")];
  if (left < 0) parts.push(el("p", { class: "note" }, -left + " more"));
  return parts;
}

// ownerNotes returns notes about owners, finalizers and deletion that an object's place in the tree does not show.
function ownerNotes(run, state, byUID, o) {
  const v = run.versions[state.objects.get(o) - 1], out = [];
  const owners = v.o || [];
  for (const w of owners) if (!byUID.has(w.uid)) out.push(el("span", { class: "bad" }, " " + (w.controller ? "controller " : "owner ") + w.name + " is gone"));
  const real = owners.filter((w) => byUID.has(w.uid));
  const parent = real.find((w) => w.controller) || real[0];
  for (const w of real) {
    if (w === parent && !w.controller) out.push(el("span", { class: "note" }, " owner, not controller"));
    if (w !== parent) out.push(el("span", { class: "note" }, " also owned by " + w.name));
  }
  if (!owners.length && (run.objects[o - 1].kind === "Pod")) out.push(el("span", { class: "note" }, " has no owner"));
  if (v.f) out.push(el("span", { class: "note" }, " held by " + v.f.join(", ")));
  if (v.d) out.push(el("span", { class: "bad" }, " being deleted"));
  return out;
}

// processPart shows the queue, the cache and the paused watches of each process.
function processPart(view, state) {
  const { run } = view, parts = [el("h2", {}, "What each process knew")];
  run.processes.forEach((p, i) => {
    const s = state.processes[i], kinds = state.kinds[i];
    if (!kinds.size && !s.queue.size && !s.down) return;
    const body = [], late = lateIn(run, state, s, kinds);
    if (s.down) body.push(el("li", { class: "bad" }, "is down"));
    for (const h of s.held) body.push(el("li", { class: "late" }, "its watch of " + h + " is paused"));
    for (const b of s.busy) body.push(el("li", {}, "is reconciling " + b[0]));
    body.push(el("li", {}, "queue: " + ([...s.queue].map(([k, n]) => k + (n > 1 ? " (again)" : "")).join(", ") || "empty")));
    const awaits = [...s.awaits.values()].map((at) => run.records[at].v + " " + nameOf(run, run.records[at].r));
    if (awaits.length) body.push(el("li", {}, "own writes that it has not been shown: " + cut([...new Set(awaits)].join(", "), 200)));
    body.push(el("li", {}, "cache: " + s.cache.size + (s.cache.size === 1 ? " object" : " objects") + (late.length ? "" : ", all up to date")));
    for (const l of late.slice(0, 12)) body.push(el("li", { class: "late" }, link(view, l.object), " " + l.text));
    if (late.length > 12) body.push(el("li", { class: "late" }, late.length - 12 + " more differ"));
    parts.push(el("details", { open: "" }, el("summary", {}, p.name + (late.length ? " — its cache is behind" : "")), el("ul", {}, ...body)));
  });
  return parts;
}

// lateIn lists the differences between a process's cache and the stored objects.
function lateIn(run, state, s, kinds) {
  const out = [];
  for (const [o, v] of s.cache) {
    const now = state.objects.get(o);
    if (now === undefined) out.push({ object: o, text: "is deleted, but still in the cache" });
    else if (now !== v) out.push({ object: o, text: "as of revision " + run.versions[v - 1].n + ", now " + run.versions[now - 1].n });
  }
  for (const [o] of state.objects)
    if (kinds.has(run.objects[o - 1].kind) && !s.cache.has(o)) out.push({ object: o, text: "exists, but is not in the cache yet" });
  return out;
}

// objectPart shows the version of the chosen object, its last change, and which processes have seen its versions.
function objectPart(view, state, upto) {
  const { run } = view, o = view.object;
  if (!o) return [];
  const writes = [];
  run.records.forEach((r, i) => { if (r.o === "commit" && r.r === o && i <= upto) writes.push(i); });
  const parts = [el("h2", {}, nameOf(run, o) + ", after this step"), el("button", { type: "button", on: () => view.choose(0) }, "Close")];
  const lastWrite = writes[writes.length - 1], now = state.objects.get(o);
  if (lastWrite === undefined) return parts.concat(el("p", { class: "note" }, "not created yet"));
  const w = run.records[lastWrite];
  parts.push(el("p", { class: "note" }, "last written by " + processOf(run, w.p) + ": " + w.v + (w.d ? ", " + w.d : "")));
  if (now === undefined) parts.push(el("p", { class: "bad" }, "gone"));
  parts.push(el("div", { id: "yaml" }, diffBlock(diffOf(linesOf(run, w.b || 0), linesOf(run, w.a || 0)), true)));
  const list = el("ul", {});
  for (const i of writes.slice(-20).reverse()) {
    const r = run.records[i];
    const seen = r.a ? seenBy(run, r.a, upto).map((s) => processOf(run, s.process)) : [];
    list.append(el("li", {}, (r.a ? "revision " + run.versions[r.a - 1].n : "removed") + ", " + r.v + " by " + processOf(run, r.p) + ": " +
      (r.a ? (seen.length ? "seen by " + [...new Set(seen)].join(", ") : "seen by no process yet") : "")));
  }
  return parts.concat(el("h2", {}, "Versions, and the processes that had seen them"), list);
}

// drawPanel shows the state at the chosen row.
function drawPanel(view) {
  const row = view.rows[view.pick], next = view.rows[view.pick + 1];
  const upto = row.begin ? Math.min(view.run.first - 1, next ? next.record - 1 : 0) : row.record;
  const state = stateAt(view.run, upto);
  view.panel.replaceChildren(...stepPart(view, row), ...objectPart(view, state, upto), ...treePart(view, state), ...processPart(view, state));
}
