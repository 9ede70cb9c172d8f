// Tells the server how wide the window is and whether the theme is dark: figures are drawn there, and sized for a hall.
export default function ({ parentElement, setStateValue }) {
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
