// Shows HTML made and escaped on the server; tells it which line was clicked, and explains words on hover and focus.
export default function ({ parentElement, data, setTriggerValue }) {
  let root = parentElement.querySelector(".panel");
  if (!root) {
    root = document.createElement("div");
    root.className = "panel";
    parentElement.appendChild(root);
  }
  root.innerHTML = data.html;
  const here = root.querySelector(".row.here");
  const code = root.querySelector(".code");
  if (here && code) code.scrollTop = Math.max(0, here.offsetTop - code.offsetTop - code.clientHeight / 2);
  root.onclick = (event) => {
    const row = event.target.closest("[data-step]");
    if (row) setTriggerValue("step", Number(row.dataset.step));
  };
  let tip = null;
  const hide = () => { if (tip) tip.remove(); tip = null; };
  const show = (event) => {
    hide();
    const word = event.target.closest("[data-tip]");
    if (!word) return;
    tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("role", "tooltip");
    tip.textContent = word.dataset.tip;
    root.appendChild(tip);
    const place = word.getBoundingClientRect();
    const left = Math.min(place.left, window.innerWidth - tip.offsetWidth - 12);
    const below = place.bottom + 6 + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? place.bottom + 6 : place.top - tip.offsetHeight - 6}px`;
  };
  root.onmouseover = show;
  root.onmouseleave = hide;
  root.onfocusin = show;
  root.onfocusout = hide;
  return () => { hide(); };
}
