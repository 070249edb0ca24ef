// Header lines as they go over the wire: made once for what every request repeats.

import { HubError } from "../errors.ts";

const VALUE = /^[\t\x20-\x7e]*$/;

/** @example toFields({ accept: "text/event-stream" }) // "accept: text/event-stream\r\n" */
export function toFields(headers: Readonly<Record<string, string>>): string {
  let fields = "";
  for (const [name, value] of Object.entries(headers)) {
    if (!VALUE.test(value)) throw new HubError("SerializationError", `The value of ${name} fits no header`);
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
}
