// Colours, where there is somebody to see them: on a terminal, unless the user says no. A meaning never hangs on colour
// alone.

import type { GlobalOptions, Io } from "./io.ts";

export type Paint = (text: string) => string;

export interface Palette {
  readonly good: Paint;
  readonly bad: Paint;
  readonly doubtful: Paint;
  readonly faint: Paint;
  readonly strong: Paint;
}

const CODES = { good: [32, 39], bad: [31, 39], doubtful: [33, 39], faint: [2, 22], strong: [1, 22] } as const;

/** The colours for one of the two streams; plain text where it must have none. */
export function paletteFor(io: Io, stream: "stdout" | "stderr", options: GlobalOptions): Palette {
  const pick = isColored(io, stream, options) ? painter : () => plain;
  return {
    good: pick("good"),
    bad: pick("bad"),
    doubtful: pick("doubtful"),
    faint: pick("faint"),
    strong: pick("strong"),
  };
}

const plain: Paint = (text) => text;

function painter(name: keyof typeof CODES): Paint {
  const [on, off] = CODES[name];
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
