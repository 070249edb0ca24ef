import { expect, it } from "vitest";
import { EventParser, readEvents, type ServerEvent } from "./sse.ts";

const STREAM =
  'retry: 1000\n\n: keep alive\n\nid: 7\nevent: server.status\ndata: {"a":\ndata: 1}\n\ndata: plain\r\n\r\n';
const EVENTS = [
  { event: "server.status", data: '{"a":\n1}', id: "7" },
  { event: "message", data: "plain", id: "7" },
];

function streamOf(...chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

it("reads events however the stream is cut into chunks", () => {
  for (let size = 1; size <= STREAM.length; size += 1) {
    const events: ServerEvent[] = [];
    const parser = new EventParser((event) => events.push(event));
    for (let at = 0; at < STREAM.length; at += size) parser.push(STREAM.slice(at, at + size));
    expect(events, `chunks of ${size}`).toEqual(EVENTS);
  }
});

it("reads the bytes of a response, characters of several bytes included", async () => {
  const bytes = new TextEncoder().encode("data: grüße\n\n");
  const events: ServerEvent[] = [];
  await readEvents(streamOf(bytes.slice(0, 9), bytes.slice(9)), (event) => events.push(event));
  expect(events).toEqual([{ event: "message", data: "grüße", id: undefined }]);
});

it("drops an event that the end of the stream cut off", async () => {
  const events: ServerEvent[] = [];
  await readEvents(streamOf(new TextEncoder().encode("data: half")), (event) => events.push(event));
  expect(events).toEqual([]);
});

it("reads where and when a reconnect goes on", () => {
  const parser = new EventParser(() => undefined);
  parser.push("id: 7\nretry: 250\n\nretry: soon\n\n");
  expect([parser.lastId, parser.retryMs]).toEqual(["7", 250]);
});

it("a line of megabytes in many chunks takes time in proportion to its length", () => {
  const events: ServerEvent[] = [];
  const parser = new EventParser((event) => events.push(event));
  const chunk = "x".repeat(1000);
  parser.push("data: ");
  for (let n = 0; n < 20_000; n += 1) parser.push(chunk);
  parser.push("\n\n");
  expect(events[0]?.data).toHaveLength(20_000_000);
});
