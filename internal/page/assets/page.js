"use strict";
// The page: its selection, and the handlers of keys, the slider and the mouse.

const $ = (id) => document.getElementById(id);
const page = JSON.parse($("data").textContent);
const view = { want: { detail: "story", process: 0, kind: "", fold: 0 }, pick: 0, object: 0, hits: new Set(), whole: false };
view.box = $("lanes");
view.panel = $("panel");
view.clicked = clicked;
view.choose = (object) => { view.object = object; drawPanel(view); };

// take shows the page's run with this index.
function take(i) {
  const run = page.runs[i];
  show(run, { ...view.want, fold: run.fold, process: 0, kind: "" });
  filter(firstPick(run));
}

// show makes a run the current run. want selects the detail, the process, the kind and the lanes to show.
function show(run, want) {
  view.run = run;
  view.object = 0;
  view.want = want;
  gather(run);
  drawVerdict(run);
  drawPrinted(run);
}

// drawPrinted shows the last lines of each program's output.
function drawPrinted(run) {
  $("printed").replaceChildren(...(run.printed || []).map((p) => el("details", {}, el("summary", {}, "The last " + p.lines.length + " lines that " + p.process + " printed"), el("pre", { tabindex: "0" }, p.lines.join("\n")))));
}

// gather computes the parts of the drawing that do not depend on the selection, and fills the select elements.
function gather(run) {
  view.lives = livesOf(run);
  view.spans = spansOf(run);
  view.news = newsOf(run);
  options($("process"), run.processes.map((p, n) => [n + 1, p.name]), view.want.process || "");
  options($("kind"), [...new Set(run.objects.map((o) => o.kind))].sort().map((k) => [k, k]), view.want.kind);
  $("fold").value = view.want.fold;
}

// firstPick returns the record of the first violation that is not a race, else of the first race, else the last record.
function firstPick(run) {
  const b = run.breaks.find((x) => x.line && !x.race) || run.breaks.find((x) => x.line);
  if (b) return run.lines[b.line - 1].record;
  return run.lines.length ? run.lines[run.lines.length - 1].record : run.records.length - 1;
}

// options replaces the entries of a select element, except the first, if they have changed.
function options(select, entries, chosen) {
  const there = [...select.options].slice(1);
  if (there.length !== entries.length || there.some((o, i) => o.text !== entries[i][1])) {
    there.forEach((o) => o.remove());
    for (const [value, text] of entries) select.append(el("option", { value }, text));
  }
  select.value = chosen;
}

// mostVerdicts is the maximal number of violations that are shown above the lanes.
const mostVerdicts = 2;

// drawVerdict shows the violations of a run above the lanes.
function drawVerdict(run) {
  const into = $("verdict"), copy = run.replay && el("button", { type: "button", id: "copy", on: () => copied(run.replay) }, "Copy");
  into.replaceChildren();
  for (const b of run.breaks.slice(0, mostVerdicts)) {
    const box = el("div", { class: "verdict" + (b.race ? " race" : "") }, el("div", { class: "law" }, b.law + (b.race ? ": a race is lost" : " is violated") + (b.line ? " at step " + b.line : "")));
    if (b.story && b.first) box.append(el("p", { class: "story" }, b.story.join(", then ") + (b.last - b.first + 1 > b.story.length ? ", …" : "") + " — ", el("span", { class: "forever" }, "and so on, for ever.")));
    else if (b.story) box.append(el("p", { class: "story" }, b.story.join(", ") + (b.text ? ": " : "."), b.text || ""));
    else if (b.text) box.append(el("p", { class: "story" }, b.text));
    box.append(el("div", { class: "small" }, "What must hold: " + b.sentence + (b.source ? " (" + b.source + ")" : "")));
    into.append(box);
  }
  const more = run.breaks.length - mostVerdicts;
  if (more > 0 && page.feed) into.append(before(run.breaks.slice(mostVerdicts)));
  else if (more > 0) into.append(el("p", { class: "small" }, more + (more === 1 ? " more is" : " more are") + " marked below"));
  if (!run.breaks.length) into.append(el("div", { class: "verdict fine" }, el("div", { class: "law" }, "No law is violated" + (page.feed ? " so far" : ""))));
  const small = [run.small, run.replay && "run it again: "].filter(Boolean).join(" · ");
  if (small) into.append(el("p", { class: "small" }, small, run.replay ? el("code", {}, run.replay) : "", copy || ""));
  fit();
  $("broken").disabled = !run.breaks.some((b) => b.line);
}

// fit sets the height of the header and the slider. The lanes use the remaining height.
function fit() {
  const rest = document.querySelector("header").offsetHeight + $("scrubber").offsetHeight + 8;
  document.documentElement.style.setProperty("--rest", rest + "px");
}

// copied copies a text to the clipboard, and shows this on the button.
function copied(text) {
  const done = () => { $("copy").textContent = "Copied"; };
  const by = () => {
    const t = el("textarea", {});
    t.value = text;
    document.body.append(t);
    t.select();
    document.execCommand("copy");
    t.remove();
    done();
  };
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, by);
  else by();
}

// filter selects the rows again, and chooses the row of a record. If still is set, the lanes do not scroll.
function filter(record, still) {
  view.rows = rowsOf(view.run, view.want);
  view.at = layout(view.run, view.want, view.box.clientWidth);
  view.heights = heightsOf(view.run, view.rows);
  view.arrows = arrowsOf(view);
  view.pick = rowBefore(view.rows, record);
  $("slider").max = view.rows.length - 1;
  search();
  drawHeads(heads, view.at);
  drawTable(0);
  bring(view.pick, still);
}

// to chooses a row for the user.
function to(i) {
  bring(i);
  if (view.moved) view.moved();
}

// bring chooses a row and draws. Unless still is set, it scrolls to the row.
function bring(i, still) {
  view.pick = Math.max(0, Math.min(view.rows.length - 1, i));
  const y = HEAD + view.pick * ROW, box = view.box;
  view.tall.style.height = view.rows.length * ROW + "px";
  if (!still && y < box.scrollTop + HEAD + ROW) box.scrollTop = Math.max(0, y - HEAD - ROW * 2);
  else if (!still && y + ROW * 2 > box.scrollTop + box.clientHeight) box.scrollTop = y + ROW * 3 - box.clientHeight;
  const row = view.rows[view.pick], upto = Math.max(0, row.record);
  $("slider").value = view.pick;
  $("slider").setAttribute("aria-valuetext", says(view.run, row));
  $("now").textContent = view.pick + " of " + (view.rows.length - 1) + " · " + timeOf(view.run, upto);
  $("back").disabled = $("first").disabled = view.pick === 0;
  $("next").disabled = view.pick === view.rows.length - 1;
  $("last").disabled = $("next").disabled && !(view.held && view.held());
  draw(view);
  drawPanel(view);
  clearTimeout(view.naming);
  if (!page.feed) view.naming = setTimeout(named, 300); // in a live run, the number of a step can change
}

// named puts the step's number into the page's address, so that users can copy a link to the step.
function named() {
  const row = view.rows[view.pick];
  try {
    history.replaceState(null, "", "#step=" + (row.line ? row.line.n : 0));
  } catch {
    // a page inside another page may not change the address
  }
}

// clicked chooses the row and the object at the position of a click.
function clicked(e, top) {
  const box = e.currentTarget.getBoundingClientRect();
  const i = Math.floor((e.clientY - box.top + top) / ROW), x = e.clientX - box.left;
  if (i < 0 || i >= view.rows.length) return;
  const row = view.rows[i], r = view.run.records[row.record];
  if (r && r.r && Math.abs((view.at.object.get(r.r) ?? -1000) - x) < view.at.wide / 2) view.object = r.r;
  else for (const l of view.lives) {
    const lane = view.at.object.get(l.object);
    if (lane !== undefined && Math.abs(lane - x) < view.at.wide / 3 && l.from <= row.record && row.record <= l.to) view.object = l.object;
  }
  to(i);
  view.box.focus({ preventScroll: true });
}

// search marks the rows that contain the words in the search field.
function search() {
  const hits = matches(view.run, view.rows, $("search").value);
  view.hits = new Set(hits);
  $("hits").textContent = $("search").value.trim() ? hits.length + " found" : "";
  return hits;
}

// found goes to the next hit.
function found() {
  const hits = search(), next = hits.find((i) => i > view.pick) ?? hits[0];
  if (next === undefined) draw(view);
  else to(next);
}

// broken goes to the next step that violated a law.
function broken() {
  const all = view.rows.map((r, i) => (r.line && r.line.breaks ? i : -1)).filter((i) => i >= 0);
  const next = all.find((i) => i > view.pick) ?? all[0];
  if (next !== undefined) to(next);
}

// mostRows is the number of rows that are added to the table at a time. A closed table has no rows.
const mostRows = 500;

// drawTable adds rows to the table, from the row with this index.
function drawTable(from) {
  const box = $("table"), into = box.querySelector("div");
  if (from === 0) into.replaceChildren();
  if (!box.open) return;
  let body = into.querySelector("tbody");
  if (!body) {
    body = el("tbody", {});
    into.append(el("table", {}, el("thead", {}, el("tr", {}, ...["step", "at", "what happened", "what changed, and why", "violation"].map((h) => el("th", { scope: "col" }, h)))), body));
  }
  view.rows.slice(from, from + mostRows).forEach((row) => {
    const l = row.line;
    body.append(el("tr", { class: l && l.breaks ? (raced(l) ? "raced" : "broken") : undefined }, el("td", {}, l ? String(l.n) : ""), el("td", {}, timeOf(view.run, Math.max(0, row.record))),
      el("td", {}, says(view.run, row)), el("td", {}, adds(view.run, row)), el("td", {}, ((l && l.breaks) || []).join("; "))));
  });
  const more = into.querySelector("button");
  if (more) more.remove();
  if (from + mostRows < view.rows.length) into.append(el("button", { type: "button", on: () => drawTable(from + mostRows) }, "More rows"));
}

// pressed handles a key.
function pressed(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target.matches("input[type=search], select, textarea")) {
    if (e.key === "Escape") view.box.focus();
    if (e.key === "Enter" && e.target === $("search")) found();
    return;
  }
  const steps = { ArrowRight: 1, ArrowDown: 1, j: 1, ArrowLeft: -1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 };
  const inPanel = view.panel.contains(e.target) && e.target.closest("#panel") && e.key.startsWith("Arrow") && e.target !== view.panel;
  if (inPanel) return;
  if (e.key in steps) to(view.pick + steps[e.key]);
  else if (e.key === "Home") to(0);
  else if (e.key === "End") to(view.rows.length - 1);
  else if (e.key === "b") broken();
  else if (e.key === "/") $("search").focus();
  else return;
  e.preventDefault();
}

// heads and tall are scrolled. heads contains the names of the lanes and stays at the top. tall contains the rows.
const heads = el("div", { class: "heads" });
view.tall = el("div", { class: "tall" });
view.box.append(heads, view.tall);

function begin() {
  for (const [name, text] of [["create", "● create"], ["change", "◆ change"], ["own", "◆ adopt, release"], ["delete", "✕ delete"], ["refused", "○ refused"], ["late", "— told late, or acted on an old view"]])
    $("legend").append(el("span", { class: "key " + name }, text));
  page.runs.forEach((r, i) => $("run").append(el("option", { value: i }, r.name)));
  $("run-label").hidden = page.runs.length < 2;
  $("run").addEventListener("change", () => take(Number($("run").value)));
  const wants = (id, set) => $(id).addEventListener("change", () => { set($(id).value); filter(Math.max(0, view.rows[view.pick].record)); });
  wants("detail", (v) => { view.want.detail = v; });
  wants("process", (v) => { view.want.process = Number(v); });
  wants("kind", (v) => { view.want.kind = v; });
  wants("fold", (v) => { view.want.fold = Number(v); });
  $("search").addEventListener("input", () => { search(); draw(view); });
  $("slider").addEventListener("input", () => to(Number($("slider").value)));
  for (const [id, where] of [["first", () => 0], ["back", () => view.pick - 1], ["next", () => view.pick + 1], ["last", () => view.rows.length - 1]])
    $(id).addEventListener("click", () => to(where()));
  $("broken").addEventListener("click", broken);
  $("theme").addEventListener("click", theme);
  $("table").addEventListener("toggle", () => drawTable(0));
  document.addEventListener("keydown", pressed);
  let waiting = false;
  const later = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (view.drawn !== firstInSight(view)) draw(view);
    });
  };
  view.box.addEventListener("scroll", later);
  window.addEventListener("resize", () => { fit(); filter(view.rows[view.pick].record, true); });
  window.addEventListener("beforeprint", () => { view.whole = true; $("table").open = true; draw(view); });
  window.addEventListener("afterprint", () => { view.whole = false; draw(view); });
  take(0);
  if (page.feed) listen(page.feed);
  const wanted = /^#step=(\d+)$/.exec(asked);
  if (wanted && view.run.lines[wanted[1] - 1]) to(rowBefore(view.rows, view.run.lines[wanted[1] - 1].record));
}

// theme switches between the light and the dark style.
function theme() {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const asked = location.hash; // choosing the first step changes location.hash
begin();
