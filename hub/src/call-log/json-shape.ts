// The shape of a JSON text: names, types and sizes, without any value. Recorded for servers whose payloads must not be stored.

const MAX_ITEMS = 3;
const MAX_MEMBERS = 100;
const MAX_DEPTH = 20;

/** @example shapeOf(Buffer.from('{"q":"hello"}')) // {"q":"string of 5"} */
export function shapeOf(json: Buffer): Buffer {
  let shape: unknown;
  try {
    shape = toShape(JSON.parse(json.toString()), 0);
  } catch {
    shape = `${json.length} bytes`;
  }
  return Buffer.from(JSON.stringify(shape));
}

function toShape(value: unknown, depth: number): unknown {
  if (value === null) return null;
  if (typeof value === "string") return `string of ${value.length}`;
  if (typeof value !== "object") return typeof value;
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => toShape(item, depth + 1));
    return value.length > MAX_ITEMS ? [...items, `${value.length - MAX_ITEMS} more`] : items;
  }
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  return Object.fromEntries(members.map(([key, member]) => [key, toShape(member, depth + 1)]));
}
