// Draws a terminal recording as an animated picture: one frame below the other, of which a window shows one at a time. Rows that occur
// in several frames are drawn once.

const WIDTH = 8.4;
const HEIGHT = 18;
const MARGIN = 14;
const COLORS = {
  black: "#484f58",
  red: "#ff7b72",
  green: "#7ee787",
  yellow: "#e3b341",
  blue: "#79c0ff",
  magenta: "#d2a8ff",
  cyan: "#56d4dd",
  gray: "#8b949e",
};

/** `frames`: `{ at, rows }` with the time in seconds. The last one stays for `rest` seconds. */
export function toSvg(frames, { columns, height, rest, title }) {
  const total = frames.at(-1).at + rest;
  const frameHeight = height * HEIGHT + 2 * MARGIN;
  const width = Math.round(columns * WIDTH + 2 * MARGIN);
  const symbols = new Map();
  const body = frames.map(({ rows }, frame) => {
    const uses = rows.flatMap((runs, row) => {
      if (runs.length === 0) return [];
      const text = runs.map(toSpan).join("");
      if (!symbols.has(text)) symbols.set(text, `r${symbols.size}`);
      return [`<use href="#${symbols.get(text)}" y="${row * HEIGHT}"/>`];
    });
    return `<g transform="translate(${MARGIN} ${frame * frameHeight + MARGIN})">${uses.join("")}</g>`;
  });
  const steps = frames.map(
    ({ at }, frame) => `${((100 * at) / total).toFixed(3)}%{transform:translateY(-${frame * frameHeight}px)}`,
  );
  const last = `translateY(-${(frames.length - 1) * frameHeight}px)`;
  const defs = [...symbols].map(([text, id]) => `<text id="${id}" y="13">${text}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${frameHeight}" width="${width}" height="${frameHeight}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:13.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}
${Object.entries(COLORS)
  .map(([name, color]) => `.${name}{fill:${color}}`)
  .join("")}.bold{font-weight:700}
#film{animation:film ${total.toFixed(2)}s infinite;animation-timing-function:step-end}
@keyframes film{${steps.join("")}100%{transform:${last}}}
@media (prefers-reduced-motion:reduce){#film{animation:none;transform:${last}}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<defs>
${defs.join("\n")}
</defs>
<g id="film">
${body.join("\n")}
</g>
</svg>
`;
}

function toSpan([text, style]) {
  return style === "" ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
