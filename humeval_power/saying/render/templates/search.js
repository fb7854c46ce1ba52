const table = document.querySelector("table.searchable"), line = document.createElement("p");
line.className = "search";
line.innerHTML = '<label>Find a system <input type="search"></label>';
table.parentElement.before(line);
line.querySelector("input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase();
  const off = (element, text) => element.classList.toggle("off", !text.toLowerCase().includes(words));
  document.querySelectorAll("table.searchable tbody tr").forEach((row) => off(row, row.cells[0].textContent));
  document.querySelectorAll("svg .row").forEach((row) => off(row, row.querySelector("title").textContent.split(": rank ")[0]));
});
