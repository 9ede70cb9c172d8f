// Tells the server how wide the window is and whether the theme is dark: figures are drawn there, and sized for a hall.
export default function ({ parentElement, setStateValue }) {
  oneEntryPerPage();
  const read = () => {
    const app = document.querySelector('[data-testid="stApp"]') || document.body;
    const [r, g, b] = (getComputedStyle(app).backgroundColor.match(/[\d.]+/g) || [255, 255, 255]).map(Number);
    const dark = 0.299 * r + 0.587 * g + 0.114 * b < 128;
    const wide = Math.round(Math.min(Math.max(window.innerWidth / 1280, 1), 1.6) * 10) / 10;
    return `${dark ? "dark" : "light"} ${wide}`;
  };
  let last = null;
  const tell = () => {
    const now = read();
    if (now !== last) { last = now; setStateValue("frame", now); }
  };
  tell();
  const timer = setInterval(tell, 400);
  return () => clearInterval(timer);
}

// Streamlit makes one entry of the history for a page and a second one for the parameters that the page then writes, so that
// every second Back would do nothing. What a page writes first completes the entry of the page.
function oneEntryPerPage() {
  if (history.explorer) return;
  history.explorer = true;
  const push = history.pushState.bind(history);
  let incomplete = !location.search;
  window.addEventListener("popstate", () => { incomplete = false; });
  history.pushState = (state, title, url) => {
    const to = new URL(url, location.href);
    const samePage = to.pathname === location.pathname;
    if (samePage && incomplete) history.replaceState(state, title, url);
    else push(state, title, url);
    incomplete = !samePage;
  };
}
