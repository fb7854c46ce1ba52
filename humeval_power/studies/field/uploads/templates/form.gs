// Makes the forms of a study, one for each worker slot, and gathers their answers. What is asked stands in STUDY.
// makeForms() and gatherAnswers() stop before the time that Google gives a script; run them again until they say so.

var COMPLETION_CODE = "";  // shown at the end of each form, where a recruiting platform asks for one

var STUDY = {{ study }};

var MINUTES = 4.5;
var ID_TITLE = "{{ id_title }}";

function makeForms() {
  var until = Date.now() + MINUTES * 60000;
  var known = PropertiesService.getScriptProperties();
  for (var at = 0; at < STUDY.slots.length; at++) {
    if (known.getProperty("form:" + at) !== null) { continue; }
    if (Date.now() > until) { Logger.log(at + " of " + STUDY.slots.length + " forms are made. Run makeForms again."); return; }
    known.setProperty("form:" + at, makeForm_(STUDY.slots[at]).getId());
  }
  writeLinks_();
  Logger.log("All forms are made. Their links stand in the sheet 'links' of " + book_().getUrl());
}

function makeForm_(slot) {
  var form = FormApp.create(STUDY.title + " " + slot.name);
  form.setTitle(STUDY.title).setDescription(STUDY.instructions).setProgressBar(true).setShowLinkToRespondAgain(false);
  if (form.setPublished) { form.setPublished(true); }
  if (COMPLETION_CODE) { form.setConfirmationMessage("Thank you. Your completion code: " + COMPLETION_CODE); }
  form.addTextItem().setTitle(ID_TITLE).setRequired(true);
  slot.shown.forEach(function (one, place) {
    var text = STUDY.texts[one.text];
    var page = form.addPageBreakItem().setTitle((place + 1) + " / " + slot.shown.length);
    page.setHelpText(text[0] ? text[0] + "\n\n----------\n\n" + text[1] : text[1]);
    STUDY.questions.forEach(function (question) { addQuestion_(form, question, titleOf_(slot, one, question)); });
  });
  return form;
}

// The name of a question brings slot, order and code back in the header of the answers.
function titleOf_(slot, one, question) {
  var name = STUDY.questions.length > 1 ? " " + question.name : "";
  return question.text + " [" + slot.name + "-" + one.order + "-" + one.code + name + "]";
}

function addQuestion_(form, question, title) {
  var item;
  if (STUDY.ask === "scale") {
    item = form.addScaleItem().setBounds(STUDY.low, STUDY.high);
    if (question.low || question.high) { item.setLabels(question.low, question.high); }
  } else if (STUDY.ask === "choice") {
    item = form.addMultipleChoiceItem().setChoiceValues(STUDY.points);
  } else {
    var rule = FormApp.createTextValidation().requireNumberBetween(STUDY.low, STUDY.high);
    item = form.addTextItem().setValidation(rule.build());
  }
  item.setTitle(title).setRequired(true);
  if (question.help) { item.setHelpText(question.help); }
}

function writeLinks_() {
  var rows = [["slot", "link", "link for Prolific", "edit"]];
  STUDY.slots.forEach(function (slot, at) {
    var form = formAt_(at);
    var id = form.getItems(FormApp.ItemType.TEXT)[0].asTextItem();
    var mark = "PROLIFIC-PID-STANDS-HERE";
    var filled = form.createResponse().withItemResponse(id.createResponse(mark)).toPrefilledUrl();
    rows.push([slot.name, form.getPublishedUrl(), filled.replace(mark, "{{ '{{%PROLIFIC_PID%}}' }}"), form.getEditUrl()]);
  });
  write_(sheet_("links"), 1, rows);
}

function gatherAnswers() {
  var until = Date.now() + MINUTES * 60000;
  var known = PropertiesService.getScriptProperties();
  var sheet = sheet_("answers");
  var at = Number(known.getProperty("gather") || 0);
  if (at === 0) { sheet.clear(); write_(sheet, 1, [STUDY.header]); }
  for (; at < STUDY.slots.length; at++) {
    known.setProperty("gather", String(at));
    if (known.getProperty("form:" + at) === null) { continue; }
    if (Date.now() > until) { Logger.log(at + " of " + STUDY.slots.length + " forms are gathered. Run gatherAnswers again."); return; }
    var rows = answersOf_(STUDY.slots[at], formAt_(at));
    if (rows.length) { write_(sheet, sheet.getLastRow() + 1, rows); }
  }
  known.deleteProperty("gather");
  Logger.log("All answers stand in the sheet 'answers' of " + book_().getUrl() + ": download it as CSV.");
}

// One row for each output and submission: when, who, which place of the study, and the answer to each question.
function answersOf_(slot, form) {
  var rows = [];
  form.getResponses().forEach(function (response) {
    var given = {};
    response.getItemResponses().forEach(function (one) { given[one.getItem().getTitle()] = one.getResponse(); });
    slot.shown.forEach(function (one) {
      var row = [response.getTimestamp().toISOString(), given[ID_TITLE], slot.name, one.batch, one.order, one.code];
      rows.push(row.concat(STUDY.questions.map(function (question) {
        var answer = given[titleOf_(slot, one, question)];
        return answer === undefined ? "" : answer;
      })));
    });
  });
  return rows;
}

function write_(sheet, first, rows) {
  var safe = rows.map(function (row) { return row.map(cell_); });
  sheet.getRange(first, 1, safe.length, safe[0].length).setValues(safe);
}

// A sheet would run what begins like a formula.
function cell_(value) {
  var text = value === undefined || value === null ? "" : String(value);
  return /^[=+@\t\r]/.test(text) || /^-(?!\d+$)/.test(text) ? "'" + text : text;
}

function formAt_(at) { return FormApp.openById(PropertiesService.getScriptProperties().getProperty("form:" + at)); }

function book_() {
  var known = PropertiesService.getScriptProperties();
  var id = known.getProperty("book");
  if (id !== null) { return SpreadsheetApp.openById(id); }
  var made = SpreadsheetApp.create(STUDY.title + " answers");
  known.setProperty("book", made.getId());
  return made;
}

function sheet_(name) { return book_().getSheetByName(name) || book_().insertSheet(name); }
