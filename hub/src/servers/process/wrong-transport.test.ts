import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TransportWatch } from "./wrong-transport.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ["Server listening on http://localhost:3000/mcp", "http://localhost:3000/mcp"],
  ["INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)", "http://127.0.0.1:8000"],
  ["MCP server started on port 8080", "port 8080"],
  ["See https://example.com for more", undefined],
  ["listening to my heart", undefined],
])("a process that prints %j to stdout or stderr, and then nothing", (line, address) => {
  for (const way of ["stdout", "stderr"] as const) {
    const found: string[] = [];
    const watch = new TransportWatch({ onElsewhere: (where) => found.push(where) });
    if (way === "stdout") watch.line(Buffer.from(line));
    else for (const byte of Buffer.from(`${line}\n`)) watch.stderr(Uint8Array.of(byte));
    vi.advanceTimersByTime(14_000);
    expect(found).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(found).toEqual(address === undefined ? [] : [address]);
    expect(watch.printed).toBe(way === "stdout" ? line : "");
  }
});

it("a server that also opens a port and answers over stdio is accepted", () => {
  const onElsewhere = vi.fn<(address: string) => void>();
  const watch = new TransportWatch({ onElsewhere });
  watch.stderr(Buffer.from("callback server listening on http://localhost:3000\n"));
  watch.line(Buffer.from('{"jsonrpc":"2.0"}'));
  watch.end();
  vi.advanceTimersByTime(60_000);
  expect(onElsewhere).not.toHaveBeenCalled();
  expect(watch.printed).toBe("");
});
