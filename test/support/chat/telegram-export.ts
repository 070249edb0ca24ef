// Writes an invented `result.json` like Telegram Desktop: one space per level, control characters as `\x0B`, empty values
// omitted.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function writeJson(value: Json, depth = 0): string {
  if (typeof value === "string") return writeString(value);
  if (typeof value !== "object" || value === null) return String(value);
  const [inner, outer] = [`\n${" ".repeat(depth + 1)}`, `\n${" ".repeat(depth)}`];
  if (isList(value)) {
    if (value.length === 0) return "[]";
    return `[${value.map((item) => inner + writeJson(item, depth + 1)).join(",")}${outer}]`;
  }
  const fields = Object.entries(value).map(
    ([key, item]) => `${inner}${writeString(key)}: ${writeJson(item, depth + 1)}`,
  );
  return `{${fields.join(",")}${outer}}`;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function writeString(text: string): string {
  const escaped = text.replaceAll(/["\\\u2028\u2029]|\p{Cc}/gu, (letter) => {
    const known = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" }[letter];
    if (known !== undefined) return known;
    const code = letter.charCodeAt(0);
    // Control characters from 127 on are not escaped.
    if (code >= 127 && code <= 159) return letter;
    const hex = code.toString(16).toUpperCase();
    return code > 255 ? `\\u${hex}` : `\\x${hex.padStart(2, "0")}`;
  });
  return `"${escaped}"`;
}

/** Text messages of two people, one per minute. */
export function* messagesOfTwo(count: number, from = 1): Generator<Json> {
  for (let id = from; id < from + count; id++) {
    const text = `Message ${id} about the plans for the weekend, and what to bring along`;
    const at = 1_736_758_800 + id * 60;
    yield {
      id,
      type: "message",
      date: new Date(at * 1000).toISOString().slice(0, 19),
      date_unixtime: String(at),
      from: id % 2 === 0 ? "Antti" : "Alice",
      from_id: id % 2 === 0 ? "user700000001" : "user300000001",
      text,
      text_entities: [{ type: "plain", text }],
    };
  }
}

/** A chat of any size, in chunks. */
export function* largeChat(count: number): Generator<string> {
  yield '{\n "name": "Antti",\n "type": "personal_chat",\n "id": 700000001,\n "messages": [';
  for (let from = 1; from <= count; from += 1000) {
    const some = [...messagesOfTwo(Math.min(1000, count - from + 1), from)];
    yield some.map((message, index) => `${from + index > 1 ? "," : ""}\n  ${writeJson(message, 2)}`).join("");
  }
  yield "\n ]\n}";
}
