// Durations as Go programs write them.

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds; undefined if the text is no duration. @example goDuration("1m30s") // 90000 */
export function goDuration(text: string): number | undefined {
  // Numbers and units in turn, and nothing after the last unit.
  const parts = text.split(/(ns|us|µs|ms|s|m|h)/);
  if (parts.length < 3 || parts.at(-1) !== "") return undefined;
  let total = 0;
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [number = "", unit = ""] = parts.slice(at, at + 2);
    if (!/^\d+(?:\.\d+)?$/.test(number)) return undefined;
    total += Number(number) * (UNITS[unit] ?? 0);
  }
  return Math.round(total);
}
