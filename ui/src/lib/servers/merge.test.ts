import { describe, expect, it } from "vitest";
import type { Server } from "$api/server.ts";
import { applyStatus, withoutServer, withServer, type StatusEvent } from "./merge.ts";

const AT = (second: number) => `2026-11-18T14:00:0${second}.000Z`;

function serverAt(second: number, status: Server["status"] = "running"): Server {
  const config = { id: "1", name: "github", enabled: true, command: "npx", args: [], env: {} };
  return { config, status, stage: null, since: AT(second), error: null, tool_count: 40 } as unknown as Server;
}

const known = (server: Server) => new Map([[server.config.name, server]]);

function event(second: number, fields: Partial<StatusEvent> = {}): StatusEvent {
  const rest = { stage: null, elapsed_ms: null, tool_count: 0, error: null };
  return { server: "github", status: "error", since: AT(second), ...rest, ...fields };
}

describe("events of servers", () => {
  it("change the one server that they are about, and leave the rest as it was", () => {
    const before = known(serverAt(1));
    const after = applyStatus(before, event(2));
    expect(after.get("github")).toMatchObject({ status: "error", since: AT(2) });
    expect(before.get("github")?.status).toBe("running");
  });

  it("that are older than the list, because it was read meanwhile, change nothing", () => {
    const before = known(serverAt(5));
    expect(applyStatus(before, event(2))).toBe(before);
  });

  it("that come twice change nothing more", () => {
    const once = applyStatus(known(serverAt(1)), event(2));
    expect(applyStatus(once, event(2)).get("github")).toEqual(once.get("github"));
  });

  it("of a server that is not known are left to the list that will name it", () => {
    const before = known(serverAt(1));
    expect(applyStatus(before, event(2, { server: "new" }))).toBe(before);
  });

  it("keep the number of tools of a server that stops", () => {
    expect(applyStatus(known(serverAt(1)), event(2)).get("github")?.tool_count).toBe(40);
    const running = event(3, { status: "running", tool_count: 41 });
    expect(applyStatus(known(serverAt(1)), running).get("github")?.tool_count).toBe(41);
  });
});

it("servers are added, replaced and removed by name", () => {
  const one = withServer(new Map(), serverAt(1));
  expect(withServer(one, serverAt(2)).get("github")?.since).toBe(AT(2));
  expect(withoutServer(one, "github").size).toBe(0);
  expect(one.size).toBe(1);
});
