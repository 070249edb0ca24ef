// Parses JSON with `\x0B` escapes, which Telegram writes for control characters. Only values that fail to parse are repaired.

export function parseLenientJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const repaired = repair(json);
    if (repaired === json) throw error;
    return JSON.parse(repaired);
  }
}

/** Matches escapes in pairs, since an escaped backslash before `x` is text. */
function repair(json: string): string {
  return json.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|[^])/g, (escape: string, hex: string | undefined) =>
    hex === undefined ? escape : `\\u00${hex}`,
  );
}
