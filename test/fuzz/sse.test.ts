// Event streams: the parser on any bytes in any chunks, compared with the algorithm of the specification on the whole text.

import { expect, it } from "vitest";
import { sseEvent, SseParser } from "@plugboard/shared/streams/sse";
import { cutUp } from "../support/mutator.ts";
import { fuzz, FUZZ_MS } from "./fuzz.ts";

const MAX_BYTES = 400;

const CORPUS = [
  'event: message\nid: 1\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  "data: a\r\ndata: b\r\n\r\nretry: 100\r\n\r\n: comment\r\ndata\r\n\r\n",
  "data: a\rdata:b\r\rid\rdata:  c\r\r",
  "\ufeffdata: ä€\n\nevent: x\ndata: y\n\nid: 7\0\ndata: z\n\n",
  `data: ${"x".repeat(MAX_BYTES - 6)}\n\n`,
  "data:\n".repeat(40) + "\n",
  "retry: 1\nretry: x\nretry: 99999999999\n\nid\ndata: q\n\n",
];

interface Seen {
  readonly events: { event: string; data: string; id: string }[];
  readonly retries: number[];
  overflows: number;
}

function parse(chunks: readonly Buffer[], maxBytes: number): Seen {
  const seen: Seen = { events: [], retries: [], overflows: 0 };
  const parser = new SseParser({
    maxBytes,
    onEvent: ({ event, data, id = "" }) => seen.events.push({ event, data: data.toString("latin1"), id }),
    onRetry: (ms) => seen.retries.push(ms),
    onOverflow: () => seen.overflows++,
  });
  for (const chunk of chunks) parser.push(chunk);
  return seen;
}

/** HTML, section 9.2.6, literally; the text is one character per byte. */
function interpret(text: string): Seen {
  const seen: Seen = { events: [], retries: [], overflows: 0 };
  const utf8 = (value: string) => Buffer.from(value, "latin1").toString();
  let [data, type, id] = ["", "", ""];
  const lines = text.replace(/^\xef\xbb\xbf/, "").split(/\r\n|\r|\n/);
  lines.pop(); // an incomplete line is ignored
  for (const line of lines) {
    if (line === "") {
      // Differs from HTML: an event with empty data is ignored.
      if (data.length > 1)
        seen.events.push({ event: type === "" ? "message" : utf8(type), data: data.slice(0, -1), id });
      data = "";
      type = "";
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (field === "event") type = value;
    if (field === "data") data += `${value}\n`;
    if (field === "id" && !value.includes("\0")) id = utf8(value);
    if (field === "retry" && /^\d{1,9}$/.test(value)) seen.retries.push(Number(value));
  }
  return seen;
}

it("F26 F07 events follow the specification for any split of the bytes", { timeout: FUZZ_MS }, () => {
  const outcomes = fuzz({
    name: "sse",
    corpus: CORPUS,
    quickRuns: 20_000,
    check: (input, random) => {
      const whole = JSON.stringify(parse([input], 1 << 20));
      if (whole !== JSON.stringify(interpret(input.toString("latin1")))) expect.fail(`not the events: ${whole}`);
      const bounded = parse([input], MAX_BYTES);
      const cut = parse(cutUp(input, random), MAX_BYTES);
      if (JSON.stringify(cut) !== JSON.stringify(bounded)) expect.fail("other events when cut");
      if (bounded.overflows > 1) expect.fail("told twice");
      if (bounded.overflows === 0 && JSON.stringify(bounded) !== whole) expect.fail("the bound changes what fits it");
      return bounded.overflows > 0 ? "too long" : bounded.events.length > 0 ? "events" : "none";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["events", "none", "too long"]));
});

it("F26 written events are read back", { timeout: FUZZ_MS }, () => {
  const outcomes = fuzz({
    name: "sse writer",
    corpus: ['{"jsonrpc":"2.0","id":1,"result":{"text":"ä"}}'],
    quickRuns: 2000,
    check: (input, random) => {
      // Each message is on one line.
      const message = Buffer.from(input.toString("latin1").replaceAll(/[\r\n]/g, " "), "latin1");
      const { events } = parse(cutUp(sseEvent(message), random), 1 << 20);
      const expected = message.length === 0 ? [] : [message.toString("latin1")];
      if (JSON.stringify(events.map(({ data }) => data)) !== JSON.stringify(expected)) expect.fail("another message");
      return events.length > 0 ? "read" : "nothing";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["read", "nothing"]));
});
