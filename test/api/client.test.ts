// HubClient, the typed client of the management API.

import { describe, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { GROUPS, SERVERS, usePlantedHub } from "./planted-hub.ts";

const managed = usePlantedHub();

describe("MG-1 the typed client", () => {
  it("MG-1 has a method for every command", async () => {
    const { client } = managed();
    expect((await client.servers.list()).map(({ config }) => config.name)).toEqual(Object.keys(SERVERS));
    expect((await client.servers.get("echo")).status).toBe("running");
    expect((await client.servers.tools("echo")).map(({ name }) => name)).toContain("add");
    expect(await client.callTool({ server: "echo", tool: "add", arguments: { a: 1, b: 2 } })).toMatchObject({
      success: true,
      content: [{ text: "3" }],
    });
    expect(await client.callGroupTool("desk", "echo", { text: "hi" })).toMatchObject({ success: true });
    expect(await client.readResource("desk", "test://static")).toMatchObject({ contents: [{ uri: "test://static" }] });
    expect(await client.getPrompt("desk", "greet", { who: "you" })).toMatchObject({ messages: [{ role: "user" }] });
    expect((await client.groups.list()).length).toBe(3);
    expect((await client.groups.tools("desk")).length).toBe(2);
    expect((await client.calls.latency("echo"))[0]?.total_calls).toBeGreaterThan(0);
    expect((await client.calls.list({ limit: 1 })).items).toHaveLength(1);
    expect(await client.servers.logs("echo", 3)).toEqual({ server: "echo", text: "", lines: [] });
    expect((await client.config.validate({})).valid).toBe(true);
    expect((await client.config.export()).groups).toEqual(GROUPS);
    expect((await client.config.reload()).description).toBe("nothing");
    expect((await client.servers.stop("second")).status).toBe("stopped");
    expect((await client.servers.start("second")).status).toBe("running");
    expect((await client.servers.restart("second")).status).toBe("running");
  });

  it("MG-1 throws errors of the same kind as the hub", async () => {
    const { client } = managed();
    await expect(client.servers.get("nobody")).rejects.toMatchObject({ kind: "ServerNotFound", code: "NOT_FOUND" });
    await expect(client.servers.start("broken")).rejects.toMatchObject({
      kind: "ServerDisabled",
      hint: expect.any(String),
    });
    await expect(client.servers.create({ command: "x" })).rejects.toMatchObject({
      kind: "InvalidConfig",
      field: "name",
    });
    await expect(client.callTool({ server: "broken", tool: "x" })).rejects.toMatchObject({
      kind: "ServerDisabled",
      message: 'Server "broken" is disabled',
    });
  });

  it("an unreachable hub and a wrong token are errors with a hint", async () => {
    const nobody = new HubClient({ url: "http://127.0.0.1:1/", token: "t" });
    await expect(nobody.status()).rejects.toMatchObject({
      kind: "ConnectionFailed",
      message: "No hub answers at http://127.0.0.1:1",
      hint: "Start it with: plugboard up",
    });
    const stranger = new HubClient({ url: managed().url, token: "wrong" });
    await expect(stranger.status()).rejects.toMatchObject({ kind: "Unauthenticated", hint: expect.any(String) });
  });
});
