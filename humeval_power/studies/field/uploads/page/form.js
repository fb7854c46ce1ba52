"use strict";
(function () {
  const study = JSON.parse(document.getElementById("study").textContent);
  const main = document.getElementById("main");
  const shown = study.shown;
  const batches = shown.length ? shown[shown.length - 1].batch : 0;
  let state = null;     // {worker, at, paused, handed, answers: [{given: [...], seconds}]}
  let since = null;     // when the text in sight came into sight
  let choose = null;    // what a digit does on this screen
  let forward = null;   // what Enter does on this screen

  // ---- what is kept in the browser, so that a worker can stop and go on ----

  function place(worker) { return "humeval-power " + study.id + " " + worker; }

  function kept(worker) {
    try {
      const found = JSON.parse(localStorage.getItem(place(worker)));
      return found && found.answers.length === shown.length ? found : null;
    } catch (error) { return null; }
  }

  function keep() {
    try {
      localStorage.setItem(place(state.worker), JSON.stringify(state));
      localStorage.setItem(place(""), JSON.stringify(state.worker));
      return true;
    } catch (error) { return false; }
  }

  function lastWorker() {
    try { return JSON.parse(localStorage.getItem(place(""))) || ""; } catch (error) { return ""; }
  }

  // ---- pieces of a screen ----

  function made(name, about, ...inside) {
    const one = document.createElement(name);
    for (const [key, value] of Object.entries(about || {})) {
      if (key === "text") one.textContent = value;
      else if (key.startsWith("on")) one.addEventListener(key.slice(2), value);
      else if (value !== false) one.setAttribute(key, value === true ? "" : value);
    }
    one.append(...inside);
    return one;
  }

  function screen(...pieces) {
    choose = forward = null;
    main.replaceChildren(...pieces);
    window.scrollTo(0, 0);
    const title = main.querySelector("[tabindex='-1']");
    if (title) title.focus({ preventScroll: true });
  }

  function card(title, text, kind) {
    return made("section", { class: "card " + kind, "aria-label": title },
      made("h2", { text: title }), made("div", { class: "said", dir: "auto", text: text }));
  }

  // ---- the screens ----

  function fromLink() {
    const query = new URLSearchParams(location.search);
    for (const name of ["PROLIFIC_PID", "workerId", "worker"]) {
      if (query.get(name)) return query.get(name);
    }
    return "";
  }

  function start() {
    const given = fromLink();
    const field = made("input", { type: "text", id: "worker", autocomplete: "off", maxlength: "200" });
    field.value = given || lastWorker();
    field.readOnly = Boolean(given);
    const wrong = made("p", { class: "wrong", role: "alert" });
    function begin() {
      const worker = field.value.trim();
      if (!worker) {
        wrong.textContent = "Enter your name or number first.";
        field.focus();
        return;
      }
      state = { token: Math.random().toString(36).slice(2, 8), ...(kept(worker) || { worker: worker, at: 0, paused: false,
        handed: false, answers: shown.map(() => ({ given: study.questions.map(() => null), seconds: 0 })) }) };
      if (!keep()) {
        wrong.textContent = "This browser keeps nothing: do not close this page before the end.";
        go.onclick = next;
        go.textContent = "Go on";
        return;
      }
      next();
    }
    const go = made("button", { class: "main", type: "button", id: "start", text: "Start" });
    go.onclick = begin;
    const told = () => { go.textContent = kept(field.value.trim()) ? "Continue" : "Start"; };
    field.addEventListener("input", told);
    told();
    screen(
      made("h1", { text: study.title, tabindex: "-1" }),
      made("div", { class: "said", dir: "auto", text: study.instructions }),
      made("p", { class: "quiet", text: counted(shown.length, "text") + (batches > 1 ? " in " + batches + " parts" : "") +
        ". Your answers stay in this browser until you hand them in; you can stop and come back." }),
      made("label", { class: "id", for: "worker", text: "Your name or number" }), field, wrong,
      made("div", { class: "buttons" }, go));
    forward = () => go.click();
  }

  function next() {
    if (state.at >= shown.length) return finish();
    const one = shown[state.at];
    const before = state.at > 0 ? shown[state.at - 1].batch : one.batch;
    if (one.batch !== before && !state.paused) return pause(before);
    return rate(one);
  }

  function pause(batch) {
    const go = made("button", { class: "main", type: "button", text: "Go on" });
    go.onclick = () => { state.paused = true; keep(); next(); };
    screen(
      made("h1", { text: "Part " + batch + " of " + batches + " is done", tabindex: "-1" }),
      made("p", { text: "Take a break if you like. You can also close this page and come back later." }),
      made("div", { class: "buttons" }, go), early());
    forward = () => go.click();
  }

  function rate(one) {
    const answer = state.answers[state.at];
    const wrong = made("p", { class: "wrong", role: "alert" });
    const fields = study.questions.map((question, number) => field(question, number, answer));
    const go = made("button", { class: "main", type: "button", id: "next", text: state.at + 1 < shown.length ? "Next" : "Finish" });
    go.onclick = () => {
      const open = answer.given.indexOf(null);
      if (open >= 0) {
        wrong.textContent = study.questions.length > 1 ? "Answer every question first." : "Choose an answer first.";
        const first = fields[open].querySelector("input");
        first.focus();
        return;
      }
      leave();
      state.at += 1;
      state.paused = false;
      keep();
      next();
    };
    const back = made("button", { type: "button", id: "back", text: "Back" });
    back.onclick = () => { leave(); state.at -= 1; keep(); next(); };
    const canGoBack = state.at > 0 && shown[state.at - 1].batch === one.batch;
    screen(
      made("div", { class: "top" },
        made("span", { tabindex: "-1", text: "Text " + (state.at + 1) + " of " + shown.length }),
        made("span", { text: batches > 1 ? "Part " + one.batch + " of " + batches : "" })),
      made("progress", { max: shown.length, value: state.at, "aria-label": "Progress" }),
      ...(one.source ? [card("Source", one.source, "source")] : []),
      card("Text to rate", one.text, "text"),
      ...fields, wrong,
      made("div", { class: "buttons" }, ...(canGoBack ? [back] : []), go), early());
    choose = (digit) => {
      if (study.slider) return;
      const active = fields.findIndex((piece) => piece.contains(document.activeElement));
      const open = answer.given.indexOf(null);
      const where = active >= 0 ? active : Math.max(open, 0);
      const button = fields[where].querySelector("input[value='" + digit + "']");
      if (button) { button.click(); wrong.textContent = ""; }
    };
    forward = () => go.click();
    since = document.hidden ? null : performance.now();
  }

  function field(question, number, answer) {
    const name = "q" + (number + 1);
    const labels = question.labels;
    function give(value) { answer.given[number] = value; keep(); }
    if (study.slider) {
      const value = answer.given[number];
      const output = made("output", { text: value === null ? "\u2013" : value });
      const input = made("input", { type: "range", name: name, min: study.low, max: study.high, step: "1",
        "aria-label": question.text });
      input.value = value === null ? (study.low + study.high) / 2 : value;
      const row = made("div", { class: value === null ? "slider open" : "slider" }, input, output);
      const moved = () => { row.classList.remove("open"); output.textContent = input.value; give(Number(input.value)); };
      for (const event of ["input", "change", "pointerup"]) input.addEventListener(event, moved);
      return made("fieldset", {}, made("legend", { dir: "auto", text: question.text }), row,
        ends(labels[study.low] || study.low, labels[study.high] || study.high));
    }
    const points = made("div", { class: "points" });
    const atEnds = Object.keys(labels).every((point) => [study.low, study.high].includes(Number(point)));
    if (!atEnds) points.classList.add("labelled");
    for (let point = study.low; point <= study.high; point += 1) {
      const input = made("input", { type: "radio", name: name, value: point });
      input.checked = answer.given[number] === point;
      input.addEventListener("change", () => give(point));
      points.append(made("label", {}, input, made("span", { class: "number", text: point }),
        ...(!atEnds && labels[point] ? [made("span", { class: "label", dir: "auto", text: labels[point] })] : [])));
    }
    return made("fieldset", {}, made("legend", { dir: "auto", text: question.text }), points,
      ...(atEnds && Object.keys(labels).length ? [ends(labels[study.low] || "", labels[study.high] || "")] : []));
  }

  function ends(low, high) {
    return made("div", { class: "ends" }, made("span", { dir: "auto", text: low }), made("span", { dir: "auto", text: high }));
  }

  function finish() {
    const copy = made("textarea", { readonly: true, id: "answers", "aria-label": "Your answers" });
    copy.value = csv();
    const go = made("button", { class: "main", type: "button", id: "hand-in", text: "Download my answers" });
    const done = made("p", { role: "status" });
    go.onclick = () => { download(); done.textContent = "Downloaded as " + fileName() + "."; };
    screen(
      made("h1", { text: "Thank you: all " + counted(shown.length, "text") + " are rated", tabindex: "-1" }),
      made("p", { text: "Download your answers, and send the file to whoever gave you this page." }),
      made("div", { class: "buttons" }, go), done,
      made("details", {}, made("summary", { text: "If no file comes: copy this and send it" }), copy));
    forward = () => go.click();
  }

  function early() {
    const get = made("button", { type: "button", text: "Download what is done" });
    get.onclick = () => { leave(); download(); since = performance.now(); };
    return made("details", {}, made("summary", { text: "Stopping early?" }),
      made("p", { text: "Your answers stay in this browser. If you will not come back, download them and send the file." }), get);
  }

  // ---- time, and what is handed in ----

  function leave() {
    if (since !== null && state !== null && state.at < shown.length) {
      state.answers[state.at].seconds += (performance.now() - since) / 1000;
    }
    since = null;
  }

  function counted(number, what) { return number + " " + what + (number === 1 ? "" : "s"); }

  function cell(value) {
    let text = String(value);
    // A cell that a spreadsheet would run gets an apostrophe; plain numbers stay.
    if (/^'*[=+\-@\t\r\n\ufeff\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
      text = "'" + text;
    }
    return /[,"\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function csv() {
    const lines = [["worker", "slot", "batch", "order", "code", "kind", "criterion", "rating", "seconds"]];
    shown.forEach((one, at) => {
      study.questions.forEach((question, number) => {
        const answer = state.answers[at];
        if (answer.given[number] === null || at >= state.at) return;
        lines.push([state.worker, study.slot, one.batch, one.order, one.code, one.kind, question.criterion,
          answer.given[number], answer.seconds.toFixed(1)]);
      });
    });
    return lines.map((line) => line.map(cell).join(",") + "\n").join("");
  }

  function fileName() {
    // not the worker's id: names of files go where tables have pseudonyms
    return "answers-" + study.slot + "-" + state.token + ".csv";
  }

  function download() {
    const link = made("a", { download: fileName() });
    link.href = URL.createObjectURL(new Blob([csv()], { type: "text/csv;charset=utf-8" }));
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    if (state.at >= shown.length) { state.handed = true; keep(); }
  }

  document.addEventListener("visibilitychange", () => {
    if (state === null || state.at >= shown.length) return;
    if (document.hidden) { leave(); keep(); } else { since = performance.now(); }
  });

  window.addEventListener("beforeunload", (event) => {
    if (state === null || state.handed) return;
    leave();
    keep();
    event.preventDefault();
    event.returnValue = "";
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "TEXTAREA") return;
    if (/^[0-9]$/.test(event.key) && choose && event.target.type !== "text") choose(event.key);
    if (event.key === "Enter" && forward && !["BUTTON", "SUMMARY"].includes(event.target.tagName)) {
      event.preventDefault();
      forward();
    }
  });

  start();
})();
