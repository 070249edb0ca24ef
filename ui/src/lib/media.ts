// Pictures and sounds in answers: shown only if their bytes are what they claim to be.

/** Bytes of a base64 text; undefined if it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
    return bytes;
  } catch {
    return undefined;
  }
}

/** The type of a picture by its first bytes; undefined: it is no picture that is shown. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const starts = (...codes: number[]) => codes.every((code, index) => bytes[index] === code);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif";
  if (starts(0x52, 0x49, 0x46, 0x46) && String.fromCharCode(...bytes.slice(8, 12)) === "WEBP") return "image/webp";
  const head = new TextDecoder().decode(bytes.slice(0, 512)).trimStart();
  // An <img> runs no script of an SVG and loads nothing for it.
  return head.startsWith("<svg") || (head.startsWith("<?xml") && head.includes("<svg")) ? "image/svg+xml" : undefined;
}

/** Rows of sixteen bytes, as hexadecimal numbers and text. */
export function toHex(bytes: Uint8Array, max = 4096): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, max); at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const codes = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    rows.push(`${at.toString(16).padStart(8, "0")}  ${codes.padEnd(47)}  ${text}`);
  }
  return rows.join("\n");
}
