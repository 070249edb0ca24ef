import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { startCollector, type Collector } from "../../../test/support/collector.ts";
import { Exporter, type ExporterOptions } from "./exporter.ts";
import { KIND, type SpanData } from "./span.ts";
import { listen } from "../../../test/support/sockets.ts";

const span = (n: number): SpanData => ({
  context: { traceId: "1".repeat(32), spanId: "2".repeat(16), sampled: true },
  parent: undefined,
  name: `span ${n}`,
  kind: KIND.server,
  start: 0n,
  end: 0n,
  attributes: {},
  failed: false,
});

describe("Exporter", () => {
  let collector: Collector | undefined;
  let hole: Server | undefined;
  afterEach(async () => {
    await collector?.close();
    hole?.close();
    collector = hole = undefined;
  });

  function exporter(url: string, options: Partial<ExporterOptions> = {}) {
    const failures: string[] = [];
    const made = new Exporter({
      url: new URL(url),
      headers: {},
      encode: (spans) => Buffer.from(JSON.stringify({ resourceSpans: [], names: spans.map(({ name }) => name) })),
      gzip: false,
      timeoutMs: 5000,
      delayMs: 1,
      onFailure: (reason) => failures.push(reason),
      ...options,
    });
    return { made, failures };
  }

  const names = (from: Collector) => from.received.map(({ body }) => JSON.parse(body.toString()).names);

  it("MG-3 sends spans in batches, and the rest when it closes", async () => {
    collector = await startCollector();
    const { made, failures } = exporter(collector.url, { delayMs: 3_600_000 });
    for (let n = 0; n < 600; n++) made.add(span(n));
    await made.close();
    expect(names(collector).map((batch) => batch.length)).toEqual([256, 256, 88]);
    expect(new Set(names(collector).flat()).size).toBe(600);
    expect(failures).toEqual([]);
    made.add(span(0));
    await made.close();
    expect(collector.received).toHaveLength(3);
  });

  it("MG-3 keeps no idle connection", async () => {
    collector = await startCollector();
    const { made } = exporter(collector.url);
    made.add(span(1));
    await collector.more(0);
    await collector.idle();
    made.add(span(2));
    await collector.more(1);
    await made.close();
    expect(names(collector)).toEqual([["span 1"], ["span 2"]]);
  });

  it("MG-3 sends a full batch at once", async () => {
    collector = await startCollector();
    const { made } = exporter(collector.url, { delayMs: 3_600_000 });
    for (let n = 0; n < 256; n++) made.add(span(n));
    await collector.more(0);
    await made.close();
    expect(collector.received).toHaveLength(1);
  });

  it("MG-3 retries what a busy collector did not accept, in order, and reports it once", async () => {
    collector = await startCollector();
    collector.statuses.push(503, 429);
    const { made, failures } = exporter(collector.url);
    made.add(span(1));
    await collector.more(2);
    await made.close();
    expect(names(collector)).toEqual([["span 1"], ["span 1"], ["span 1"]]);
    expect(failures).toEqual(["it answered with HTTP status 503"]);
  });

  it("MG-3 drops spans that the collector rejects", async () => {
    collector = await startCollector();
    collector.statuses.push(401);
    const { made, failures } = exporter(collector.url);
    made.add(span(1));
    await collector.more(0);
    made.add(span(2));
    await collector.more(1);
    await made.close();
    expect(names(collector)).toEqual([["span 1"], ["span 2"]]);
    expect(failures).toEqual(["it answered with HTTP status 401"]);
  });

  it("MG-3 bounds the queue while the collector is busy", async () => {
    collector = await startCollector();
    const { made } = exporter(collector.url, { delayMs: 3_600_000 });
    collector.statuses.push(503);
    for (let n = 0; n < 256; n++) made.add(span(n));
    await collector.more(0);
    for (let n = 256; n < 5000; n++) made.add(span(n));
    await made.close();
    const taken = names(collector).slice(1).flat();
    expect(taken).toEqual(Array.from({ length: 2048 }, (_, n) => `span ${n}`));
  });

  it("MG-3 closes within its time limit if the collector hangs, and leaves no connection", async () => {
    const gone: Promise<unknown>[] = [];
    hole = createServer((socket) => void gone.push(once(socket.on("error", () => {}).resume(), "close")));
    const port = await listen(hole);
    const { made, failures } = exporter(`http://127.0.0.1:${port}`, { timeoutMs: 3_600_000, closeMs: 20 });
    made.add(span(1));
    await once(hole, "connection");
    await made.close();
    await Promise.all(gone);
    expect(failures).toEqual(["it does not answer"]);
  });
});
