// Saves figures of the page as PNG or SVG with Plotly's own exporter, which every plot's element carries behind a button.
export default function ({ parentElement, data }) {
  let root = parentElement.querySelector(".files");
  if (!root) {
    root = document.createElement("div");
    root.className = "files";
    parentElement.appendChild(root);
  }
  root.replaceChildren();
  const save = (key, format) => {
    const plot = document.querySelector(`.st-key-${key} .js-plotly-plot`);
    const button = plot && plot.querySelector('.modebar-btn[data-title^="Download plot"]');
    if (!button) return;
    plot._context.toImageButtonOptions = { format, filename: `${data.prefix}-${key}`, scale: format === "png" ? 2 : 1 };
    button.click();
  };
  for (const [key, title] of Object.entries(data.titles)) {
    const line = document.createElement("div");
    const name = document.createElement("span");
    name.textContent = title;
    line.appendChild(name);
    for (const format of ["png", "svg"]) {
      const button = document.createElement("button");
      button.textContent = format.toUpperCase();
      button.title = `Save "${title}" as ${format.toUpperCase()}`;
      button.onclick = () => save(key, format);
      line.appendChild(button);
    }
    root.appendChild(line);
  }
}
