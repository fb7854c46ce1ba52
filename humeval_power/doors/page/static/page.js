/* The page works without this. With it answers move while one drags, files can be dropped, and progress is shown. */
"use strict";

// Its attributes are read by getAttribute: a field called "dataset" would stand in the place of form.dataset.
const form = document.getElementById("form");
const answer = document.getElementById("answer");
const saves = form?.getAttribute("data-saves"); // the page of a study: what is typed is saved there
const tab = crypto.randomUUID();
const QUIET = 60; // milliseconds after the last movement before the formula is asked
const STILL = 1200; // before the simulation follows by itself
let asking = null;
let quiet = 0;
let still = 0;
let polling = 0;
let touched = false; // nothing is simulated before somebody has set something
const inSight = new IntersectionObserver((seen) => {
  const line = document.getElementById("glance"); // which is gone where another version of the study is shown
  if (line) line.hidden = seen.at(-1).isIntersecting;
});

if (form && answer) {
  for (const slider of form.querySelectorAll("input[type=range]")) joined(slider);
  for (const group of form.querySelectorAll("[data-one-of]")) group.addEventListener("input", alone);
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (saves) return save();
    keep(true);
    compute();
  });
  if (saves) form.addEventListener("change", save);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || !event.target.matches("textarea")) return;
    event.preventDefault(); // a question is one paragraph
    form.requestSubmit();
  });
  answer.addEventListener("submit", saves ? afterSaving : stopped);
  answer.addEventListener("change", (event) => {
    const reading = event.target.closest("form.reading");
    if (reading && event.target.name === "file") reading.submit(); // the study names other files then
    else if (reading) reread(reading);
  });
  for (const field of form.querySelectorAll("[data-field].file")) droppable(field);
  answer.addEventListener("click", (event) => {
    const chooser = form.querySelector("[data-field='" + event.target.dataset.chooses + "'] .chooser");
    if (!chooser) return;
    event.preventDefault();
    chooser.click();
  });
  const [field, another] = [...form.querySelectorAll("[data-field].file")].filter((each) => !each.closest("details"));
  if (saves && field && !another) dropped(document.querySelector("main"), field); // the one file that is asked for
  document.getElementById("reading")?.addEventListener("change", (event) => {
    const at = event.target.id || event.target.closest("details").querySelector("[id]").id;
    readAgain("#" + at);
  });
  const place = document.getElementById(location.hash.slice(1));
  place?.closest("details")?.setAttribute("open", "");
  place?.focus();
  follow(answer.dataset.state, answer.dataset.key);
  copies();
  glance();
  if (!["live", "starting"].includes(answer.dataset.state)) toProblem(answer);
  // What nobody waits for is not computed: a page that is left says so, after the next one of its study has come.
  if (saves) {
    const here = () => fetch(form.getAttribute("data-here")).catch(() => null);
    setTimeout(here, 1000);
    setInterval(here, 60_000);
  }
  window.addEventListener("pagehide", () => {
    const stop = answer.querySelector(".progress form")?.getAttribute("action") ?? "";
    const place = form.getAttribute("data-leaves") ?? stop.replace("/stop?", "/leave?");
    if (place) navigator.sendBeacon(place);
  });
}

/* The eye goes where something is wrong. */
function toProblem(among) {
  const wrong = among.querySelector("[aria-invalid=true], p.problem[tabindex]") ?? among.querySelector(".problems");
  wrong?.closest("details")?.setAttribute("open", "");
  wrong?.focus();
}

/* What changed, as one sentence for those who hear the page. */
function say() {
  const problem = answer.querySelector(".problems li, p.problems, .reading .problem");
  if (problem) document.querySelector("#reading details")?.setAttribute("open", "");
  const sentence = problem ?? answer.querySelector(".progress p") ?? answer.querySelector(".reading .first-number, header .answer, .document p");
  const words = (sentence?.textContent ?? "").replace(/\s+/g, " ").trim();
  const heard = answer.querySelector(".progress") && !problem ? words.replace(/[\d.,:%]+.*/, "").trim() : words;
  const said = document.getElementById("said"); // which is gone where another version of the study is shown
  if (said && said.textContent !== heard) said.textContent = heard;
}

/* Next takes what was worked out, where that is not what the study says. */
function onward() {
  const take = answer.querySelector("#take");
  const button = document.querySelector(".onward button");
  if (!button) return;
  button.hidden = take === null;
  button.nextElementSibling.hidden = take !== null;
  if (take) button.textContent = take.getAttribute("data-words");
}

/* On a narrow screen the answer is below the form: its first number stays in sight while it is not. */
function glance() {
  const line = document.getElementById("glance");
  const card = answer.querySelector(".cards .first-number");
  const first = card ?? answer.querySelector(".headline > div");
  inSight.disconnect();
  line.hidden = true;
  if (!first) return;
  line.textContent = card ? card.textContent : first.lastElementChild.textContent + " " + first.firstElementChild.textContent;
  inSight.observe(first);
}

/* A slider shows what its field says, and the other way round; values beyond its ends stay in the field. */
function joined(slider) {
  const field = document.getElementById(slider.dataset.for);
  slider.hidden = false;
  slider.removeAttribute("name");
  slider.addEventListener("input", (event) => {
    event.stopPropagation();
    field.value = slider.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", (event) => {
    if (event.isTrusted && field.value !== "") slider.value = field.value;
  });
}

/* Of some options only one can be set: what is typed in one empties the others. */
function alone(event) {
  const names = event.currentTarget.dataset.oneOf.split(" ");
  if (event.target.value === "" || !names.includes(event.target.name)) return;
  for (const name of names) {
    const other = form.elements[name];
    if (name !== event.target.name && other) other.value = "";
  }
}

/* What is set in the form, as the query of its link. */
function query() {
  const set = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value.trim() !== "") set.append(name, value.trim());
  }
  return set.toString();
}

/* The link holds the state: nothing typed is lost by reload or Back. */
function keep(step) {
  if (saves) return;
  const link = form.getAttribute("data-path") + "?" + query();
  if (step) history.pushState(null, "", link);
  else history.replaceState(null, "", link);
}

/* The files are read by the link; an answer that is still on its way must not call this page back. */
function readAgain(place) {
  asking?.abort();
  for (const timer of [quiet, still, polling]) clearTimeout(timer);
  location.assign(form.getAttribute("data-path") + "?" + query() + place);
}

function changed(event) {
  touched = true;
  event?.target.closest("[data-field]")?.querySelector(".suggested")?.remove();
  keep(false);
  clearTimeout(quiet);
  clearTimeout(still);
  clearTimeout(polling);
  if (saves) {
    quiet = setTimeout(move, QUIET);
    return;
  }
  if (!form.getAttribute("data-live")) {
    answer.classList.add("old");
    return;
  }
  if (answer.dataset.state === "waiting" || answer.dataset.state === "running") {
    stop(answer.dataset.key); // nobody waits for it any more; what it has finished is kept
    answer.querySelector(".progress")?.remove();
    answer.dataset.state = "live";
  }
  quiet = setTimeout(move, QUIET);
}

function stop(key) {
  return fetch("/job/" + key + "/stop", {
    method: "POST",
    headers: { Accept: "application/json", "X-Humeval": "1" },
  }).catch(() => null);
}

/* The formula's answer; the newest question wins. */
async function move() {
  if (asking) asking.abort();
  asking = new AbortController();
  answer.setAttribute("aria-busy", "true");
  try {
    const place = saves ? saves : "/live" + form.getAttribute("data-path");
    const said = await fetch(place + "?" + query(), {
      headers: { Accept: "application/json", "X-Tab": tab },
      signal: asking.signal,
    });
    if (said.status === 204) return;
    const found = await said.json();
    const seen = [...form.querySelectorAll("[data-field]")].filter((each) => !each.closest("details")).map((each) => each.dataset.field);
    if (found.written && (found.written !== form.elements.version.value || `${seen}` !== `${found.fields}`)) return location.reload(); // by a command
    show(found);
  } catch (error) {
    if (error.name !== "AbortError") lost();
  }
}

/* A study is saved at each answer, one after the other; the answer follows. */
let saving = null;
let unsaved = false;
function save() {
  unsaved = true;
  asking?.abort(); // its answer would be about what was saved before
  answer.setAttribute("aria-busy", "true");
  document.getElementById("saved").textContent = "";
  saving ??= (async () => {
    let found = {};
    while (unsaved && !found.conflict) {
      unsaved = false;
      found = await saved();
    }
    saving = null;
  })();
  return saving;
}

/* What another tab or an editor has saved meanwhile is shown beside what was to be saved. */
async function saved() {
  clearTimeout(quiet);
  const sent = new URLSearchParams(new FormData(form));
  const said = await fetch(saves, {
    method: "POST",
    headers: { Accept: "application/json", "X-Humeval": "1" },
    body: sent,
    keepalive: true,
  }).catch(() => null);
  if (!said) {
    lost();
    return {};
  }
  const found = await said.json();
  if (found.conflict) {
    conflict(found.conflict);
  } else if (found.version) {
    form.elements.version.value = found.version;
    for (const [name, value] of Object.entries(found.values)) {
      const field = form.elements[name];
      if (field && field.value === sent.get(name)) field.value = value; // else it was changed meanwhile
    }
    for (const each of form.querySelectorAll(".suggested")) {
      if (!found.suggested.includes(each.closest("[data-field]").dataset.field)) each.remove();
    }
    if (unsaved) return found;
    document.getElementById("saved").textContent = "Saved in study.toml";
    quiet = setTimeout(move, QUIET);
  } else {
    show(found);
    toProblem(form);
  }
  return found;
}

/* A button of the answer waits until what was typed is saved. */
async function afterSaving(event) {
  if (event.target.matches(".reading") && event.submitter?.value === "read") {
    event.preventDefault();
    return reread(event.target);
  }
  const waited = saving ?? rereading;
  if (!waited) return;
  event.preventDefault();
  const name = event.target.getAttribute("action") + event.submitter?.value;
  await waited;
  if (event.target.id === "take") {
    clearTimeout(quiet);
    await move(); // what was worked out from what is saved now
  }
  const buttons = [...document.querySelectorAll("#answer form button, .onward button, button[form]")];
  const same = buttons.find((each) => each.form && each.form.getAttribute("action") + each.value === name);
  if (same) same.form.requestSubmit(same);
  else if (event.target.id === "take") location.assign(document.querySelector(".onward a").href);
}

/* What is chosen about the columns of a file is kept, and the file is read again; the focus stays where it is. */
let rereading = null;
function reread(reading) {
  const sent = new URLSearchParams(new FormData(reading));
  answer.setAttribute("aria-busy", "true");
  rereading = (async () => {
    const said = await fetch(reading.getAttribute("action"), {
      method: "POST",
      headers: { Accept: "application/json", "X-Humeval": "1", "X-Tab": tab },
      body: sent,
    }).catch(() => null);
    rereading = null;
    if (!said) return lost();
    if (said.status === 204) return;
    const found = await said.json();
    if (found.conflict) return conflict(found.conflict);
    const at = document.activeElement?.getAttribute("name");
    const value = document.activeElement?.value;
    show(found);
    if (found.version) form.elements.version.value = found.version;
    const same = [...answer.querySelectorAll("form.reading [name]")].filter((each) => each.name === at);
    (same.find((each) => each.value === value) ?? same[0])?.focus();
  })();
  return rereading;
}

function conflict(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html").querySelector("main");
  document.querySelector("main").replaceWith(fresh);
}

/* The whole answer, by a job. */
async function compute() {
  clearTimeout(still);
  const asked = query();
  try {
    const said = await fetch("/job" + form.getAttribute("data-path") + "?" + asked, {
      method: "POST",
      headers: { Accept: "application/json", "X-Humeval": "1" },
    });
    if (asked === query()) show(await said.json(), Boolean(form.getAttribute("data-live")));
  } catch {
    lost();
  }
}

async function poll(key) {
  try {
    const said = await fetch("/job/" + key, { headers: { Accept: "application/json" } });
    const found = await said.json();
    if (answer.dataset.key === key) show(found, Boolean(form.getAttribute("data-live")));
  } catch {
    lost();
  }
}

/* Put an answer on the page. While a simulation runs, what the formula said stays below its progress. */
function show(found, keepsFormula) {
  answer.removeAttribute("aria-busy");
  if (found.html === undefined) {
    const text = document.createElement("p");
    text.className = "problems";
    text.setAttribute("tabindex", "-1");
    text.textContent = words(found);
    answer.replaceChildren(text);
    say();
    return;
  }
  answer.classList.remove("old");
  const open = [...answer.querySelectorAll("details[open]")].map((each) => each.dataset.name);
  const runs = found.state === "waiting" || found.state === "running";
  if (runs && keepsFormula && answer.querySelector(".document")) {
    const fresh = document.createElement("div");
    fresh.innerHTML = found.html;
    const bar = fresh.querySelector(".progress");
    const old = answer.querySelector(".progress");
    if (bar && old) old.replaceWith(bar);
    else if (bar) answer.prepend(bar);
  } else {
    answer.innerHTML = found.html;
    for (const each of answer.querySelectorAll("details")) {
      if (open.includes(each.dataset.name)) each.open = true;
    }
    copies();
  }
  beside(found.problems);
  glance();
  onward();
  say();
  follow(found.state, found.key);
}

function follow(state, key) {
  const hasBegun = answer.dataset.state === "starting" && state !== "starting";
  if (hasBegun && form.hasAttribute("data-reads") && !document.getElementById("reading")) return location.reload();
  answer.dataset.state = state;
  answer.dataset.key = key;
  clearTimeout(polling);
  clearTimeout(still);
  if (touched && state === "live" && form.hasAttribute("data-follows") && answer.querySelector(".document")) still = setTimeout(compute, STILL);
  if (state === "starting") polling = setTimeout(move, 400);
  if (saves && (state === "waiting" || state === "running")) {
    polling = setTimeout(move, 500);
    return;
  }
  if (state === "waiting" || state === "running") polling = setTimeout(() => poll(key), 300);
}

/* Errors stand beside their fields. */
function beside(problems) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const here = problems.filter((each) => each.option === field.dataset.field);
    const input = field.querySelector("input:not([type=range], .brought input), select, textarea");
    const id = input.id + "-wrong";
    field.querySelector(".problem")?.remove();
    field.classList.toggle("wrong", here.length > 0);
    if (here.length === 0) {
      input.removeAttribute("aria-invalid");
      continue;
    }
    const box = document.createElement("div");
    box.className = "problem";
    box.id = id;
    for (const each of here) {
      const line = document.createElement("p");
      line.textContent = each.text;
      box.append(line);
    }
    field.append(box);
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", input.id + "-help " + id);
    field.closest("details")?.setAttribute("open", "");
  }
}

function lost() {
  answer.removeAttribute("aria-busy");
  const text = "The page does not answer: the command that shows it may have ended. Start that again, and open the link that it gives. What was saved is there then.";
  show({ problems: [{ text }] });
}

async function stopped(event) {
  if (!event.target.matches("form[action*='/stop']")) return;
  event.preventDefault();
  const said = await stop(answer.dataset.key);
  if (said) show(await said.json());
  else lost();
}

/* Files that are chosen or dropped are brought at once; their field holds their names and digests. */
function droppable(field) {
  const chooser = document.createElement("input");
  chooser.type = "file";
  chooser.multiple = field.hasAttribute("data-many");
  chooser.setAttribute("aria-label", "Choose a file: " + field.querySelector("label").textContent);
  chooser.className = "chooser";
  for (const kind of ["input", "change"]) chooser.addEventListener(kind, (event) => event.stopPropagation()); // nothing is typed yet
  chooser.addEventListener("change", () => bring([...chooser.files].map((file) => [file, file.name]), field));
  field.querySelector(".control").append(chooser);
  dropped(field, field);
}

/* What is dropped on a place is brought into a field. */
function dropped(place, field) {
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    field.classList.add("over");
  });
  place.addEventListener("dragleave", () => field.classList.remove("over"));
  place.addEventListener("drop", async (event) => {
    event.preventDefault();
    event.stopPropagation();
    field.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
    bring((await Promise.all(entries.filter(Boolean).map(files))).flat(), field);
  });
}

/* The files of what was dropped, each with its path: of a folder all that lies below it. */
async function files(entry) {
  if (entry.isFile) return [[await new Promise((done, failed) => entry.file(done, failed)), entry.fullPath.slice(1)]];
  const reader = entry.createReader();
  const inner = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed)); // a hundred at a time
    if (some.length === 0) return (await Promise.all(inner.map(files))).flat();
    inner.push(...some);
  }
}

async function bring(pairs, field) {
  if (pairs.length === 0) return;
  const isFolder = pairs.some(([, path]) => path.includes("/"));
  if (!field.hasAttribute("data-many") && !isFolder) pairs = pairs.slice(-1);
  const inputs = [...field.querySelectorAll("input[type=text]")];
  const input = inputs.find((each) => each.value === "") ?? inputs[0]; // of several files the next
  const name = inputs[0].name;
  const brought = [];
  const coming = document.createElement("p");
  coming.className = "hint coming";
  coming.setAttribute("role", "status");
  field.querySelector(".control").after(coming);
  coming.textContent = pairs.length > 1 ? `Bringing ${pairs.length} files \u2026` : `Bringing ${pairs[0][0].name} \u2026`;
  for (const some of saves ? pairs.map(([file]) => [[file, file.name]]) : [pairs]) {
    const body = new FormData();
    for (const [file, path] of some) body.append("file", file, path);
    const said = await fetch("/upload", { method: "POST", headers: { Accept: "application/json", "X-Humeval": "1" }, body }).catch(() => null);
    const found = await said?.json();
    if (!found?.values) {
      coming.remove();
      return found ? beside([{ option: name, text: words(found) }]) : lost();
    }
    brought.push(...found.values);
  }
  coming.remove();
  if (saves) {
    // What came later is added, and takes the place of what has its name, until it is saved under the names of the folder.
    const before = field.hasAttribute("data-many") ? input.value.split(/, */).filter((name) => name && !pairs.some(([file]) => file.name === name)) : [];
    input.value = [...before, ...brought].join(", ");
    return save();
  }
  if (!field.hasAttribute("data-many")) field.querySelector(".brought")?.remove();
  const names = brought.length === pairs.length ? pairs.map(([file]) => file.name) : brought.map((value) => value.split("~")[0]);
  for (const [place, value] of brought.entries()) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    Object.assign(box, { type: "checkbox", name, value, checked: true });
    label.className = "brought";
    label.append(box, " " + names[place]);
    input.before(label);
  }
  if (form.hasAttribute("data-reads")) return readAgain("");
  input.dispatchEvent(new Event("input", { bubbles: true }));
  if (!form.getAttribute("data-live")) form.requestSubmit();
}

function words(found) {
  return found.problems.map((each) => each.text).join("\n");
}

/* A button that copies a command. */
function copies() {
  for (const block of answer.querySelectorAll("pre.copy")) {
    if (block.nextElementSibling?.className === "copier") continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copier";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    });
    block.after(button);
  }
}

window.addEventListener("popstate", () => location.reload());
/* A page that is not done yet is fetched again; what is shown of it changes, and the focus stays. */
async function again() {
  const main = document.querySelector("main[data-again]");
  if (!main) return;
  await new Promise((done) => setTimeout(done, Number(main.dataset.again)));
  const said = await fetch(location.href).catch(() => null);
  if (!said || !said.ok) return;
  const found = new DOMParser().parseFromString(await said.text(), "text/html").querySelector("main");
  main.replaceWith(found);
  again();
}
again();

document.documentElement.classList.add("scripted");
