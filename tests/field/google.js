// A stand-in for Google's services: forms, sheets and properties that live in one file between runs of a script.
// node google.js SCRIPT STATE CALL [minutes that each form takes]
"use strict";
const fs = require("fs");
const vm = require("vm");
const [script, statePath, call, minutes] = process.argv.slice(2);
const state = fs.existsSync(statePath) ? JSON.parse(fs.readFileSync(statePath, "utf8")) : { properties: {}, forms: {}, books: {}, log: [] };
let clock = Date.UTC(2026, 0, 2);
class Clock extends Date {
  constructor(...given) { super(...(given.length ? given : [clock])); }
  static now() { return clock; }
}

function item(data) {
  const self = {
    setTitle(text) { if (/\n/.test(text)) { throw new Error("a title has one line: " + text); } data.title = text; return self; },
    setHelpText(text) { data.help = text; return self; },
    setRequired(yes) { data.required = yes; return self; },
    setBounds(low, high) {
      if (![0, 1].includes(low) || high < 3 || high > 10) { throw new Error("bounds"); }
      data.bounds = [low, high]; return self;
    },
    setLabels(low, high) { data.labels = [low, high]; return self; },
    setChoiceValues(values) { data.choices = values; return self; },
    setValidation(rule) { data.between = rule; return self; },
    getTitle() { return data.title; },
    asTextItem() { return self; },
    createResponse(text) { return { title: data.title, text }; },
  };
  return self;
}

function form(id) {
  const data = state.forms[id];
  const add = (type) => () => { const made = { type }; data.items.push(made); return item(made); };
  const self = {
    getId: () => id,
    setTitle(text) { data.title = text; return self; },
    setDescription(text) { data.description = text; return self; },
    setProgressBar: () => self, setShowLinkToRespondAgain: () => self, setConfirmationMessage: () => self,
    setPublished(yes) { data.published = yes; return self; },
    addTextItem: add("TEXT"), addPageBreakItem: add("PAGE_BREAK"), addScaleItem: add("SCALE"),
    addMultipleChoiceItem: add("MULTIPLE_CHOICE"),
    getItems: (type) => data.items.filter((one) => one.type === type).map(item),
    getPublishedUrl: () => "https://docs.google.com/forms/" + id + "/viewform",
    getEditUrl: () => "https://docs.google.com/forms/" + id + "/edit",
    createResponse() {
      let url = self.getPublishedUrl() + "?usp=pp_url";
      const made = {
        withItemResponse(one) { url += "&entry.1=" + encodeURIComponent(one.text); return made; },
        toPrefilledUrl: () => url,
      };
      return made;
    },
    getResponses: () => data.responses.map((one) => ({
      getTimestamp: () => new Date(one.at),
      getItemResponses: () => Object.entries(one.answers).map(([title, answer]) => ({
        getItem: () => ({ getTitle: () => title }), getResponse: () => answer,
      })),
    })),
  };
  return self;
}

function sheet(rows) {
  return {
    clear() { rows.length = 0; },
    getLastRow: () => rows.length,
    getRange: (first, _column, height, width) => ({
      setValues(values) {
        if (values.length !== height || values.some((row) => row.length !== width)) { throw new Error("size"); }
        // an apostrophe in front makes a cell text, and is not part of it; a sign like = runs
        values.forEach((row, at) => {
          if (row.some((cell) => /^[=+]/.test(cell))) { throw new Error("a formula runs: " + row); }
          rows[first - 1 + at] = row.map((cell) => String(cell).replace(/^'/, ""));
        });
      },
    }),
  };
}

function book(id) {
  const sheets = state.books[id];
  return {
    getId: () => id, getUrl: () => "https://docs.google.com/spreadsheets/" + id,
    getSheetByName: (name) => (sheets[name] ? sheet(sheets[name]) : null),
    insertSheet(name) { sheets[name] = []; return sheet(sheets[name]); },
  };
}

const services = {
  Date: Clock,
  Logger: { log(text) { state.log.push(text); } },
  PropertiesService: {
    getScriptProperties: () => ({
      getProperty: (name) => (name in state.properties ? state.properties[name] : null),
      setProperty(name, value) { state.properties[name] = String(value); },
      deleteProperty(name) { delete state.properties[name]; },
    }),
  },
  FormApp: {
    ItemType: { TEXT: "TEXT" },
    create(name) {
      clock += Number(minutes || 0) * 60000;
      const id = "f" + Object.keys(state.forms).length;
      state.forms[id] = { name, items: [], responses: [] };
      return form(id);
    },
    openById(id) { clock += Number(minutes || 0) * 60000; return form(id); },
    createTextValidation() {
      let between = null;
      const made = { requireNumberBetween(low, high) { between = [low, high]; return made; }, build: () => between };
      return made;
    },
  },
  SpreadsheetApp: {
    create() { const id = "b" + Object.keys(state.books).length; state.books[id] = {}; return book(id); },
    openById: book,
  },
};
vm.runInNewContext(fs.readFileSync(script, "utf8") + "\n" + call + "();", services);
fs.writeFileSync(statePath, JSON.stringify(state));
