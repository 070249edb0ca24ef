// Colours of the theme for a canvas, which knows neither variables nor `light-dark()`.

/** Reads tokens such as "--c3" as the colours that they are at the moment, in the place of an element. */
export function themeColours(place: HTMLElement): (token: string) => string {
  const probe = document.createElement("span");
  probe.hidden = true;
  place.append(probe);
  const known = new Map<string, string>();
  // The probe is needed only while something is drawn.
  queueMicrotask(() => probe.remove());
  return (token) => {
    let colour = known.get(token);
    if (colour === undefined) {
      probe.style.setProperty("color", `var(${token})`);
      colour = getComputedStyle(probe).color;
      known.set(token, colour);
    }
    return colour;
  };
}

/** Calls back when the theme has changed. Returns the function that ends this. */
export function onThemeChange(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(changed);
  dark.addEventListener("change", changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    dark.removeEventListener("change", changed);
    observer.disconnect();
  };
}
