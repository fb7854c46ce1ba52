// Lunr takes a leading dash as "without this word": who looks for --looks means the option.
document.addEventListener(
  "input",
  ({ target }) => {
    if (!target.matches?.(".md-search__input")) return;
    const plain = target.value.replace(/(^|\s)[-+]+(?=\S)/g, "$1");
    if (plain !== target.value) target.value = plain;
  },
  true,
);
