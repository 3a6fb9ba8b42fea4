"use strict";
// The run of a server that is running: what comes is added to it, and who is at the last step stays at the last.

// fed shows how the server that feeds the page is.
const fed = { status: null };

// listen asks for the run, and for what comes. The browser comes back by itself when the connection is lost.
function listen(from) {
  fed.status = el("span", { id: "live", role: "status" }, "waiting for the server");
  $("title").after(fed.status);
  $("now").setAttribute("aria-live", "off");
  const stream = new EventSource(from);
  const say = (text, lost) => { fed.status.textContent = text; fed.status.className = lost ? "lost" : ""; };
  stream.addEventListener("open", () => say("live", false));
  stream.addEventListener("part", (e) => came(JSON.parse(e.data)));
  stream.addEventListener("error", () => say(stream.readyState === 2 ? "the server feeds this page no more: load it again" : "the server is gone: asking again", true));
}

// came takes in what came: the whole of a run, or what is new of the one that is shown.
function came(part) {
  const was = view.run, keep = part.keep;
  const last = view.pick === view.rows.length - 1;
  if (keep.records === 0) return anew(part, last);
  for (const list of ["records", "versions", "text", "lines"]) {
    was[list].length = keep[list];
    for (const x of part[list]) was[list].push(x);
  }
  if (part.processes.length !== was.processes.length) was.state = undefined;
  was.replaced = undefined;
  if (view.want.fold === was.fold) view.want.fold = part.fold;
  const told = JSON.stringify(was.breaks);
  for (const list of ["processes", "objects", "lanes", "fold", "breaks"]) was[list] = part[list];
  gather(was);
  if (JSON.stringify(was.breaks) !== told) drawVerdict(was);
  if (last) filter(was.records.length - 1, !nearEnd());
  else filter(Math.max(0, view.rows[view.pick].record), true);
}

// anew shows a run from its beginning on, at the step at which the one before was.
function anew(run, last) {
  const was = view.run, then = was.records[view.rows[view.pick].record];
  const step = then ? then.s : 0, object = nameOf(was, view.object);
  page.runs = [run];
  take(0);
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
