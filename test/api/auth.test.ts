// The `auth` of servers through the management API: hidden, kept, changed, and counted as a use of its secrets.

import { describe, expect, it } from "vitest";
import { OWN_SECRET, useOwnHub } from "./own-hub.ts";
import { patch, post } from "./planted-hub.ts";

const open = useOwnHub();
const url = "http://127.0.0.1:1/mcp";
const idp = { issuer: "https://idp.example", client_id: "i", client_secret: OWN_SECRET, id_token: OWN_SECRET };
const auth = { type: "enterprise", client_id: "a", client_secret: OWN_SECRET, key: OWN_SECRET, idp };

describe("auth of a server in the API", () => {
  it("T12 shows no secret in any view, and PUT of what was read changes nothing", async () => {
    const { ask, file } = await open({ it: { url, auth, enabled: false } });
    const before = await file();
    const { json } = await ask("/servers/it");
    expect(json.config.auth).toEqual({
      ...auth,
      client_secret: "***",
      key: "***",
      idp: { ...idp, client_secret: "***", id_token: "***" },
    });
    expect(json.warnings).toEqual([
      expect.stringContaining("auth.client_secret is stored as plain text"),
      expect.stringContaining("auth.key is stored as plain text"),
      expect.stringContaining("auth.idp.client_secret is stored as plain text"),
      expect.stringContaining("auth.idp.id_token is stored as plain text"),
    ]);
    expect((await ask("/config")).json.config.mcpServers.it.auth.client_secret).toBe("***");
    expect((await ask("/config/export")).json.mcpServers.it.auth.idp.id_token).toBe("***");
    expect((await ask("/servers/it", { method: "PUT", body: json.config })).status).toBe(200);
    expect(await file()).toBe(before);
  });

  it("T12 PATCH keeps what is hidden, in either spelling", async () => {
    const { ask, entries } = await open({
      it: { url, auth: { clientId: "a", clientSecret: OWN_SECRET }, enabled: false },
    });
    await ask("/servers/it", patch({ description: "Mine" }));
    expect((await entries()).it.auth).toEqual({ clientId: "a", clientSecret: OWN_SECRET });
    await ask("/servers/it", patch({ auth: { clientId: "b", scopes: ["x"] } }));
    expect((await entries()).it.auth).toEqual({
      type: "oauth",
      client_id: "b",
      client_secret: OWN_SECRET,
      scopes: ["x"],
    });
    await ask("/servers/it", patch({ auth: { clientSecret: { secret_ref: "s" }, scopes: null } }));
    expect((await entries()).it.auth).toEqual({ type: "oauth", client_id: "b", client_secret: { secretRef: "s" } });
    await ask("/servers/it", patch({ auth: false }));
    expect((await entries()).it.auth).toBe(false);
    expect((await ask("/servers/it")).json.config.auth).toBe(false);
    await ask("/servers/it", patch({ auth: null }));
    expect((await entries()).it).not.toHaveProperty("auth");
  });

  it("CF-10 oauth of another client is shown as auth, and replaced by it if it changes", async () => {
    const { ask, entries } = await open({
      it: { url, oauth: { clientId: "a", clientSecret: OWN_SECRET }, enabled: false },
    });
    const { config } = (await ask("/servers/it")).json;
    expect(config.auth).toEqual({ type: "oauth", client_id: "a", client_secret: "***" });
    await ask("/servers/it", { method: "PUT", body: { ...config, description: "d" } });
    expect((await entries()).it.oauth).toEqual({ clientId: "a", clientSecret: OWN_SECRET });
    await ask("/servers/it", patch({ auth: { client_id: "b" } }));
    expect((await entries()).it).toMatchObject({ auth: { client_id: "b", client_secret: OWN_SECRET } });
    expect((await entries()).it).not.toHaveProperty("oauth");
  });

  it("T12 a mask without a stored value is refused", async () => {
    const { ask } = await open({ it: { url, auth: { client_id: "a" }, enabled: false } });
    const answer = await ask("/servers/it", patch({ auth: { client_secret: "***" } }));
    expect([answer.status, answer.json.field]).toEqual([400, "auth.client_secret"]);
  });

  it("T12 a variable that repeats a secret of auth is hidden, and restored", async () => {
    const secret = "k3y-0f-a-d00r-4711";
    const entry = { url, auth: { client_id: "a", client_secret: secret }, env: { COPY: secret }, enabled: false };
    const { ask, entries } = await open({ it: entry });
    const { config } = (await ask("/servers/it")).json;
    expect(config.env).toEqual({ COPY: "***" });
    await ask("/servers/it", { method: "PUT", body: { ...config, description: "d" } });
    expect((await entries()).it.env).toEqual({ COPY: secret });
  });

  it("SE-1 its stored secrets are in use", async () => {
    const { ask } = await open({
      it: { url, auth: { client_id: "a", client_secret: { secretRef: "mine" } }, enabled: false },
    });
    const stored = await ask("/secrets/mine", { method: "PUT", body: { value: OWN_SECRET } });
    expect(stored.json).toMatchObject({ used_by: ["it"] });
    expect((await ask("/servers/it")).json).toMatchObject({
      secret_refs: { "auth.client_secret": "mine" },
      config: { auth: { client_secret: { secretRef: "mine" } } },
    });
    expect((await ask("/secrets/mine", { method: "DELETE" })).status).toBe(409);
  });

  it("LC-2 storing a missing secret starts the server that waits for it", async () => {
    const { ask, hub } = await open({ it: { url, auth: { client_id: "a", client_secret: { secretRef: "mine" } } } });
    await expect(hub.supervisor.get("it").start()).rejects.toMatchObject({ field: "auth.client_secret" });
    const stored = await ask("/secrets/mine", { method: "PUT", body: { value: OWN_SECRET } });
    expect(stored.json).toMatchObject({ starting: ["it"] });
  });

  it("T11 an entry cannot send a variable of the hub that it does not declare", async () => {
    const { ask } = await open({});
    for (const [field, given] of Object.entries({
      "auth.client_secret": { client_id: "a", client_secret: "${AWS_SECRET}" },
      "auth.issuer": { issuer: "https://${AWS_SECRET}.example" },
      "auth.token_env": { type: "workload", token_env: "AWS_SECRET" },
    })) {
      const answer = await ask("/servers", post({ name: "new", url, auth: given, enabled: false }));
      expect([answer.status, answer.json.field]).toEqual([400, field]);
    }
    const declared = { name: "new", url, auth: { client_id: "${ID}" }, allowEnv: ["ID"], enabled: false };
    expect((await ask("/servers", post(declared))).status).toBe(201);
  });

  it("CF-8 an entry whose auth cannot work is not saved", async () => {
    const { ask, entries } = await open({});
    const answer = await ask("/servers", post({ name: "new", url, auth: { type: "private_key_jwt", client_id: "a" } }));
    expect([answer.status, answer.json.field]).toEqual([400, "auth.key"]);
    expect(await entries()).toEqual({});
  });

  it("CF-9 a change of auth replaces the server, and no other", async () => {
    const { ask, hub } = await open({ it: { url, enabled: false }, other: { url, enabled: false } });
    const before = new Map(hub.supervisor.servers.map((server) => [server.name, server.config]));
    const changed: string[][] = [];
    hub.events.on("config.reloaded", ({ changes }) => changed.push(changes.restarted.map(({ name }) => name)));
    await ask("/servers/it", patch({ auth: { client_id: "a" } }));
    expect(changed).toEqual([["it"]]);
    expect(hub.supervisor.get("it").config.auth).toEqual({ type: "oauth", clientId: "a" });
    expect(hub.supervisor.get("other").config).toBe(before.get("other"));
  });
});
