document.querySelectorAll("thead").forEach((head) => {
  const body = head.parentElement.tBodies[0], heads = [...head.lastElementChild.cells];
  const words = (row, at) => row.cells[at].textContent.trim().replace("\u2212", "-").replace(/^[<>] |,/g, "");
  const order = (x, y) => (isNaN(parseFloat(x)) - isNaN(parseFloat(y))) || (parseFloat(x) - parseFloat(y)) || x.localeCompare(y);
  if (body.rows.length > 2) heads.filter((cell) => cell.textContent).forEach((cell) => {
    const at = heads.indexOf(cell), button = document.createElement("button");
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const sign = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      body.append(...[...body.rows].filter((row) => row.className !== "total").sort((a, b) => sign * order(words(a, at), words(b, at))));
      body.append(...body.querySelectorAll(".total"));
    });
  });
});
