"use strict";
// The page of a running world. New records are added to the run. If the last step is chosen, the page follows the run.

// fed.status is the element with the state of the connection. fed.lost is the reason why no data arrives. fed.ahead is
// a new run that does not have the chosen step; it is shown when the user goes to the last step.
const fed = { status: null, ahead: null, lost: "" };

// listen requests the run and its later parts. If the connection is lost, the browser reconnects.
function listen(from) {
  fed.status = el("span", { id: "live", role: "status" }, "waiting for the server");
  $("title").after(fed.status);
  $("now").setAttribute("aria-live", "off");
  const stream = new EventSource(from);
  const are = (lost) => { fed.lost = lost; say(); };
  stream.addEventListener("open", () => are(""));
  stream.addEventListener("part", (e) => came(JSON.parse(e.data)));
  stream.addEventListener("error", () => are(stream.readyState === 2 ? "the server has closed the stream: reload this page" : "the connection is lost: connecting again"));
  view.held = () => fed.ahead !== null;
  view.moved = () => { if (fed.ahead && atLast()) anew(fed.ahead, true); };
}

// say shows the state of the connection.
function say() {
  const text = fed.lost || (fed.ahead ? kept() : "live");
  if (fed.status.textContent !== text) fed.status.textContent = text;
  fed.status.className = fed.lost ? "lost" : "";
}

// kept returns the status text while fed.ahead is set. It names the laws that the run has violated in the meantime.
function kept() {
  const laws = new Set(fed.ahead.breaks.map((b) => b.law));
  for (const b of view.run.breaks) laws.delete(b.law);
  return "the run went on" + (laws.size ? " and broke " + [...laws].join(", ") : "") + ", and this step is kept: End goes on";
}

// atLast reports whether the last row is chosen.
function atLast() {
  return view.pick === view.rows.length - 1;
}

// came handles a part from the server: a whole run, or the changes of the current run.
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

// grow applies the changes in a part to a run.
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

// forgotten reports whether a new run begins after the chosen step.
function forgotten(run) {
  const then = view.run.records[view.rows[view.pick].record], first = run.records[run.first];
  return then && first && then.s < first.s;
}

// anew shows a new run. It chooses the last step if last is set, otherwise the step that was chosen before.
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

// nearEnd reports whether one of the last two rows is in sight.
function nearEnd() {
  return view.box.scrollTop + view.box.clientHeight > view.tall.offsetHeight - 2 * ROW;
}

// before lists the earlier violations, which drawVerdict does not show in full.
function before(breaks) {
  const say = (b) => el("p", { class: "small" }, b.law + (b.line ? " at step " + b.line : "") + ": " + ((b.story || []).join(", ") || b.text));
  return el("details", {}, el("summary", {}, breaks.length + " more before"), ...breaks.map(say));
}
