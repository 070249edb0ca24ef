// Colours for terminals, unless the user opts out. No meaning depends on colour alone.

import type { GlobalOptions, Io } from "../io.ts";

export type Paint = (text: string) => string;

export interface Palette {
  readonly good: Paint;
  readonly bad: Paint;
  readonly doubtful: Paint;
  readonly faint: Paint;
  readonly strong: Paint;
  /** Colors to distinguish several series. */
  readonly series: readonly Paint[];
}

const CODES = { good: [32, 39], bad: [31, 39], doubtful: [33, 39], faint: [2, 22], strong: [1, 22] } as const;
/** Cyan, magenta, blue and their bright forms: neither good nor bad. */
const SERIES = [36, 35, 34, 96, 95, 94];

/** The palette for one of the two streams; plain if it must not be coloured. */
export function paletteFor(io: Io, stream: "stdout" | "stderr", options: GlobalOptions): Palette {
  const isShown = isColored(io, stream, options);
  const pick = (name: keyof typeof CODES) => (isShown ? painter(CODES[name][0], CODES[name][1]) : plain);
  return {
    series: isShown ? SERIES.map((code) => painter(code, 39)) : [plain],
    good: pick("good"),
    bad: pick("bad"),
    doubtful: pick("doubtful"),
    faint: pick("faint"),
    strong: pick("strong"),
  };
}

const plain: Paint = (text) => text;

function painter(on: number, off: number): Paint {
  return (text) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`);
}

/** --no-color, then FORCE_COLOR, then NO_COLOR (no-color.org: any value but the empty one), then the terminal. */
export function isColored({ env, ...io }: Io, stream: "stdout" | "stderr", { color }: GlobalOptions): boolean {
  if (color === false) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  return io[stream].isTTY === true;
}
