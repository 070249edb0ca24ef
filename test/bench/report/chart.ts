// Bars as SVG, readable on light and dark pages: one panel for each figure, one bar for each target, Plugboard highlighted.

export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly text: string;
  readonly isOurs?: boolean;
}

const WIDTH = 760;
const MARGIN = 16;
const LABEL = 130;
const VALUE = 70;
const ROW = 24;
const THICK = 14;
const TITLE = 34;
const TRACK = WIDTH - 2 * MARGIN - LABEL - VALUE;

const STYLE = `
  svg { background: #ffffff; }
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .value { fill: #59636e; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  .axis { stroke: #d1d9e0; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; }
    text { fill: #f0f6fc; }
    .value { fill: #9198a1; }
    .bar { fill: #656c76; }
    .ours { fill: #4493f8; }
    .axis { stroke: #3d444d; }
  }
`;

export function toChart(panels: readonly Panel[], name: string): string {
  const parts: string[] = [];
  let top = MARGIN;
  for (const panel of panels) {
    parts.push(panelAt(panel, top));
    top += TITLE + panel.bars.length * ROW + MARGIN;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img">`,
    `<title>${escape(name)}</title>`,
    `<style>${STYLE}</style>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function panelAt({ title, bars }: Panel, top: number): string {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const left = MARGIN + LABEL;
  const first = top + TITLE;
  const rows = bars.map(({ label, value, text, isOurs = false }, index) => {
    const y = first + index * ROW;
    const length = Math.max(1, (TRACK * value) / most).toFixed(1);
    const baseline = y + THICK - 2;
    return [
      `<text x="${left - 10}" y="${baseline}" text-anchor="end"${isOurs ? ' class="title"' : ""}>${escape(label)}</text>`,
      `<rect x="${left}" y="${y}" width="${length}" height="${THICK}" rx="2" class="${isOurs ? "ours" : "bar"}"/>`,
      `<text x="${(left + Number(length) + 8).toFixed(1)}" y="${baseline}" class="value">${escape(text)}</text>`,
    ].join("\n");
  });
  const bottom = first + bars.length * ROW - (ROW - THICK) + 4;
  return [
    `<text x="${MARGIN}" y="${top + 18}" class="title">${escape(title)}</text>`,
    `<line x1="${left}" y1="${first - 4}" x2="${left}" y2="${bottom}" class="axis"/>`,
    ...rows,
  ].join("\n");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
