// Telegram writes control characters as `\x0B`, which is no JSON. Only a value that does not parse is repaired.

export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const repaired = repair(json);
    if (repaired === json) throw error;
    return JSON.parse(repaired);
  }
}

/** An escaped backslash before an `x` is text, so escapes are taken in pairs. */
function repair(json: string): string {
  return json.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|[^])/g, (escape: string, hex: string | undefined) =>
    hex === undefined ? escape : `\\u00${hex}`,
  );
}
