// Revisions, ETags and compression of the management API.

import { describe, expect, it } from "vitest";
import { fixture } from "../support/hub.ts";
import { useOwnHub } from "./own-hub.ts";
import { patch, problem } from "./planted-hub.ts";

const open = useOwnHub();

describe("revisions and ETags", () => {
  it("answers carry the revision of the config, and If-Match makes a change depend on it", async () => {
    const { ask, file } = await open({ it: { command: "server", enabled: false } });
    const read = await ask("/servers/it");
    const etag = String(read.headers["etag"]);
    expect(etag).toMatch(/^"\w+\.\w+"$/);
    const revisionIn = (tag: unknown) => String(tag).split(".")[0];
    for (const path of ["/servers", "/config", "/groups"]) {
      expect(revisionIn((await ask(path)).headers["etag"])).toBe(revisionIn(etag));
    }
    const ifMatch = (tag: string) => ({ headers: { "if-match": tag, "content-type": "application/json" } });
    const changed = await ask("/servers/it", { ...patch({ description: "one" }), ...ifMatch(etag) });
    expect(changed.status).toBe(200);
    expect(changed.headers["etag"]).not.toBe(etag);
    const before = await file();
    for (const asked of [
      { path: "/servers/it", method: "PATCH", body: { description: "two" } },
      { path: "/servers/it", method: "PUT", body: { command: "other" } },
      { path: "/servers/it", method: "DELETE" },
      { path: "/servers", method: "POST", body: { name: "n", command: "x" } },
      { path: "/groups/g", method: "PUT", body: { servers: [] } },
    ]) {
      const { json } = await ask(asked.path, { ...asked, ...ifMatch(etag) });
      expect([asked.path, json]).toEqual([asked.path, problem(409, "CONFLICT", "Conflict")]);
    }
    expect(await file()).toBe(before);
    const fresh = String(changed.headers["etag"]);
    for (const tag of ["*", `"other", ${fresh}`, `W/${fresh}`]) {
      const { headers, status } = await ask("/servers/it", { ...patch({ enabled: false }), ...ifMatch(tag) });
      expect([tag, status, headers["etag"]]).toEqual([tag, 200, fresh]);
    }
  });

  it("GET answers have an ETag of their content, and 304 for If-None-Match", async () => {
    const { ask, hub } = await open({ it: fixture("echo") });
    await hub.start();
    for (const path of ["/servers", "/servers?view=summary", "/groups/default/tools", "/status"]) {
      const first = await ask(path);
      const etag = String(first.headers["etag"]);
      const again = await ask(path, { headers: { "if-none-match": `"x", W/${etag}` } });
      // The status contains the uptime.
      if (path !== "/status") expect([path, again.status, again.body]).toEqual([path, 304, ""]);
      expect((await ask(path, { headers: { "if-none-match": '"x"' } })).status).toBe(200);
    }
    const before = String((await ask("/servers")).headers["etag"]);
    await hub.supervisor.get("it").stop();
    expect((await ask("/servers", { headers: { "if-none-match": before } })).status).toBe(200);
  });

  it("answers are compressed on request, and a summary omits tools, resources and schemas", async () => {
    const { ask, hub, url, token } = await open({ it: fixture("echo") });
    await hub.start();
    const plain = await ask("/servers");
    for (const [accepted, coding] of [
      ["gzip", "gzip"],
      ["gzip, br;q=1.0", "br"],
    ] as const) {
      const answer = await fetch(`${url}/api/v1/servers`, {
        headers: { authorization: `Bearer ${token}`, "accept-encoding": accepted },
      });
      expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([coding, "accept-encoding"]);
      expect(await answer.text()).toBe(plain.body);
    }
    const refused = await ask("/servers", { headers: { "accept-encoding": "gzip;q=0, identity" } });
    expect(refused.headers["content-encoding"]).toBeUndefined();
    const [full] = plain.json;
    const [short] = (await ask("/servers?view=summary")).json;
    expect(short).toEqual({ ...full, tools: [], resources: [] });
    expect([short.tool_count, short.resource_count]).toEqual([full.tools.length, full.resources.length]);
    const [tool] = (await ask("/groups/default/tools?view=summary")).json;
    expect(tool).toEqual({
      name: expect.any(String),
      description: expect.any(String),
      input_schema: {},
      server: "it",
      tool: expect.any(String),
    });
    expect((await ask("/servers?view=short")).status).toBe(400);
  });

  it("F39 of several writers that saw the same revision, one succeeds and the others get Conflict", async () => {
    const { client } = await open({ it: { command: "server", enabled: false } });
    const { revision } = await client.config.get();
    const results = await Promise.allSettled(
      ["a", "b", "c", "d"].map((description) => client.servers.patch("it", { description }, { revision })),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ kind: "Conflict", code: "CONFLICT" });
    }
  });
});
