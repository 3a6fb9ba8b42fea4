"use strict";
// The run of a server that is running: what comes is added to it, and who is at the last step stays at the last.

// fed shows how the server that feeds the page is. ahead is the run as it is by now, of one who looks at what the
// server has forgotten: he keeps what he sees, until he goes to the end. lost says why nothing comes.
const fed = { status: null, ahead: null, lost: "" };

// listen asks for the run, and for what comes. The browser comes back by itself when the connection is lost.
function listen(from) {
  fed.status = el("span", { id: "live", role: "status" }, "waiting for the server");
  $("title").after(fed.status);
  $("now").setAttribute("aria-live", "off");
  const stream = new EventSource(from);
  const are = (lost) => { fed.lost = lost; say(); };
  stream.addEventListener("open", () => are(""));
  stream.addEventListener("part", (e) => came(JSON.parse(e.data)));
  stream.addEventListener("error", () => are(stream.readyState === 2 ? "the server feeds this page no more: load it again" : "the server is gone: asking again"));
  view.held = () => fed.ahead !== null;
  view.moved = () => { if (fed.ahead && atLast()) anew(fed.ahead, true); };
}

// say says how the server is.
function say() {
  const text = fed.lost || (fed.ahead ? kept() : "live");
  if (fed.status.textContent !== text) fed.status.textContent = text;
  fed.status.className = fed.lost ? "lost" : "";
}

// kept says that a step is kept, and which laws were violated that the page does not tell of meanwhile.
function kept() {
  const laws = new Set(fed.ahead.breaks.map((b) => b.law));
  for (const b of view.run.breaks) laws.delete(b.law);
  return "the run went on" + (laws.size ? " and broke " + [...laws].join(", ") : "") + ", and this step is kept: End goes on";
}

// atLast reports whether the last row is chosen.
function atLast() {
  return view.pick === view.rows.length - 1;
}

// came takes in what came: the whole of a run, or what is new of the one that is shown.
function came(part) {
  const was = fed.ahead || view.run, told = JSON.stringify(was.breaks), last = atLast();
  if (part.keep.records === 0) {
    if (fed.ahead || (!last && forgotten(part))) {
      fed.ahead = part;
      say();
    } else anew(part, last);
    return;
  }
  grow(was, part);
  if (fed.ahead) return say();
  gather(was);
  if (JSON.stringify(was.breaks) !== told) drawVerdict(was);
  if (last) filter(was.records.length - 1, !nearEnd());
  else filter(Math.max(0, view.rows[view.pick].record), true);
}

// grow adds to a run what is new of it.
function grow(run, part) {
  for (const list of ["records", "versions", "text", "lines"]) {
    run[list].length = part.keep[list];
    for (const x of part[list]) run[list].push(x);
  }
  if (part.processes.length !== run.processes.length) run.state = undefined;
  run.replaced = undefined;
  if (run === view.run && view.want.fold === run.fold) view.want.fold = part.fold;
  for (const list of ["processes", "objects", "lanes", "fold", "breaks"]) run[list] = part[list];
}

// forgotten reports whether a run begins behind the step that is chosen.
function forgotten(run) {
  const then = view.run.records[view.rows[view.pick].record], first = run.records[run.first];
  return then && first && then.s < first.s;
}

// anew shows a run from its beginning on, at the step at which the one before was.
function anew(run, last) {
  const was = view.run, then = was.records[view.rows[view.pick].record], want = { ...view.want };
  const step = then ? then.s : 0, object = nameOf(was, view.object), process = processOf(was, want.process);
  fed.ahead = null;
  say();
  page.runs = [run];
  show(run, {
    ...want,
    fold: want.fold === was.fold ? run.fold : want.fold,
    process: run.processes.findIndex((p) => p.name === process) + 1,
    kind: run.objects.some((o) => o.kind === want.kind) ? want.kind : "",
  });
  if (object) view.object = run.objects.findIndex((o) => o.name === object) + 1;
  let at = run.records.length - 1;
  if (!last) while (at > 0 && run.records[at].s > step) at--;
  filter(at);
}

// nearEnd reports whether the last row is in sight, or nearly.
function nearEnd() {
  return view.box.scrollTop + view.box.clientHeight > view.tall.offsetHeight - 2 * ROW;
}

// before lists the laws that were broken before the last ones.
function before(breaks) {
  const say = (b) => el("p", { class: "small" }, b.law + (b.line ? " at step " + b.line : "") + ": " + ((b.story || []).join(", ") || b.text));
  return el("details", {}, el("summary", {}, breaks.length + " more before"), ...breaks.map(say));
}
