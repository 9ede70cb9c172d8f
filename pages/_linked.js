// Columns of code whose lines belong to lines of the source: a line under the pointer, or one that was clicked, lights all
// lines that belong together. The HTML is made and escaped on the server.
export default function ({ parentElement, data, setTriggerValue }) {
  let root = parentElement.querySelector(".linked");
  if (!root) {
    root = document.createElement("div");
    root.className = "linked";
    parentElement.appendChild(root);
  }
  data.tints.forEach((tint, number) => root.style.setProperty(`--tint${number}`, tint));
  root.style.gridTemplateColumns = data.panes.map((pane) => (pane.kind === "source" ? data.wide : "minmax(0, 1fr)")).join(" ");
  while (root.children.length > data.panes.length) root.lastChild.remove();
  data.panes.forEach((pane, number) => {
    let column = root.children[number];
    if (!column) {
      column = document.createElement("div");
      column.innerHTML = '<div class="head"><b></b> <span class="more"></span><span class="count"></span></div><div class="rows" tabindex="0"></div>';
      root.appendChild(column);
    }
    column.className = `column ${pane.kind}`;
    column.querySelector("b").textContent = pane.title;
    column.querySelector(".more").textContent = pane.more;
    const rows = column.querySelector(".rows");
    rows.setAttribute("aria-label", pane.title);
    if (rows.shown !== pane.html) {
      rows.innerHTML = pane.html;
      rows.shown = pane.html;
      rows.querySelectorAll("[data-tip]").forEach((word) => { word.title = word.dataset.tip; word.removeAttribute("tabindex"); });
      rows.scrollTop = 0;
    }
  });
  const columns = [...root.children];
  const of = (column, line) => [...column.querySelectorAll(`[data-line="${line}"]`)];
  const seen = (rows, row) => {
    const top = row.offsetTop - rows.offsetTop;
    return top >= rows.scrollTop && top + row.offsetHeight <= rows.scrollTop + rows.clientHeight;
  };
  const light = (line, from) => {
    root.querySelectorAll(".lit").forEach((row) => row.classList.remove("lit"));
    columns.forEach((column) => {
      const lit = line === null ? [] : of(column, line);
      lit.forEach((row) => row.classList.add("lit"));
      const rows = column.querySelector(".rows");
      const is = column.classList.contains("source");
      column.querySelector(".count").textContent =
        line === null ? "" : is ? `line ${line}` : `${lit.length} line${lit.length === 1 ? "" : "s"} of line ${line}`;
      if (column !== from && lit.length && !lit.some((row) => seen(rows, row))) {
        rows.scrollTop = Math.max(0, lit[0].offsetTop - rows.offsetTop - rows.clientHeight / 3);
      }
    });
  };
  let pinned = data.line;
  const mark = () => root.querySelectorAll(".row").forEach((row) => row.classList.toggle("pinned", row.dataset.line === String(pinned)));
  const pin = (line) => {
    pinned = line;
    mark();
    light(pinned, null);
    setTriggerValue("line", line === null ? 0 : line);
  };
  mark();
  light(pinned, null);
  const row = (event) => event.target.closest("[data-line]");
  let timer = 0;
  root.onmouseover = (event) => {
    const found = row(event);
    clearTimeout(timer);
    timer = setTimeout(() => light(found ? Number(found.dataset.line) : pinned, found && found.closest(".column")), 60);
  };
  root.onmouseleave = () => { clearTimeout(timer); light(pinned, null); };
  root.onclick = (event) => {
    const found = row(event);
    if (!found || String(window.getSelection())) return;
    const line = Number(found.dataset.line);
    pin(line === pinned ? null : line);
  };
  root.onkeydown = (event) => {
    const lines = [...new Set([...root.querySelectorAll(".source [data-line]")].map((found) => Number(found.dataset.line)))];
    if (event.key === "Escape" && pinned !== null) pin(null);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    const step = event.key === "ArrowDown" ? 1 : -1;
    const now = lines.indexOf(pinned);
    const next = now < 0 ? (step > 0 ? 0 : lines.length - 1) : (now + step + lines.length) % lines.length;
    if (lines.length) pin(lines[next]);
  };
  return () => clearTimeout(timer);
}
