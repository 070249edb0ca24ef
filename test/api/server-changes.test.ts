// Changes of servers through the management API: the config file, the processes, and the answers.

import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { failing, fixture } from "../support/hub.ts";
import { untilState } from "../support/in-process.ts";
import { processesWithMark } from "../support/processes.ts";
import { OWN_SECRET, useOwnHub } from "./own-hub.ts";
import { patch, post, problem } from "./planted-hub.ts";

const open = useOwnHub();
const POST = { method: "POST" };

describe("changes of servers", () => {
  it("MG-1 create_mcp_server: saves the entry as given, starts the server, and answers with its address", async () => {
    const { ask, hub, entries } = await open({});
    await hub.start();
    const entry = { name: "new", ...fixture("echo"), env: { API_KEY: OWN_SECRET }, note: "theirs" };
    const { status, headers, json } = await ask("/servers", post(entry));
    expect([status, headers["location"]]).toEqual([201, "/api/v1/servers/new"]);
    expect(json).toMatchObject({ config: { name: "new", env: { API_KEY: "***" } } });
    const { name: _, ...saved } = entry;
    expect(await entries()).toEqual({ new: saved });
    await untilState(hub, "new", "running");
    expect((await ask("/servers/new")).json.status).toBe("running");
  });

  it("MG-1 update_mcp_server: sending back what was read changes nothing, not even the text of the file", async () => {
    const { ask, hub, file } = await open(
      { it: { ...fixture("echo"), env: { API_KEY: OWN_SECRET, PORT: 3000 } } },
      (text) => text.replace("{", "{\n  // mine\n"),
    );
    await hub.start();
    const { pid } = hub.supervisor.get("it");
    const before = await file();
    const { config } = (await ask("/servers/it")).json;
    const answer = await ask("/servers/it", { method: "PUT", body: config });
    expect(answer.status).toBe(200);
    expect(await file()).toBe(before);
    expect(hub.supervisor.get("it").pid).toBe(pid);
  });

  it("T12 PUT keeps the stored value for ***, and replaces it by any other text", async () => {
    const { ask, hub, entries } = await open({
      it: { ...fixture("echo"), env: { API_KEY: OWN_SECRET, TOKEN: { secretRef: "service" } } },
    });
    const { config } = (await ask("/servers/it")).json;
    await ask("/servers/it", { method: "PUT", body: { ...config, env: { ...config.env, MODE: "slow" } } });
    expect((await entries()).it.env).toMatchObject({
      API_KEY: OWN_SECRET,
      TOKEN: { secretRef: "service" },
      MODE: "slow",
    });
    await ask("/servers/it", { method: "PUT", body: { ...config, env: { API_KEY: "another" } } });
    expect((await entries()).it.env).toEqual({ API_KEY: "another" });
    expect(hub.supervisor.get("it").config.env).toEqual({ API_KEY: { value: "another" } });
  });

  it("CF-10 a merge patch changes only the members it names; the rest of the file stays, comments included", async () => {
    const text = `{
  // my servers
  "mcpServers": {
    "it": {
      "command": "server", // the program
      "args": ["--a"],
      "env": { "API_KEY": "${OWN_SECRET}" /* from the vault */ },
      "theirs": 1
    }
  }
}
`;
    const { ask, file } = await open({}, () => text);
    const { status, json } = await ask("/servers/it", patch({ description: "Mine", env: { MODE: "x" }, theirs: null }));
    expect([status, json.config.description]).toEqual([200, "Mine"]);
    const after = await file();
    for (const comment of ["// my servers", "// the program", "/* from the vault */"]) expect(after).toContain(comment);
    expect(after).toContain('"args": ["--a"],');
    expect(after).not.toContain("theirs");
    expect(after).toContain(OWN_SECRET);
    await ask("/servers/it", patch({ description: null, env: { MODE: null } }));
    expect((await ask("/servers/it")).json.config).toMatchObject({ env: { API_KEY: "***" } });
    expect((await ask("/servers/it")).json.config).not.toHaveProperty("description");
  });

  it("a renamed server keeps its id and is found by both", async () => {
    const { ask, entries } = await open({ it: { command: "server", enabled: false } });
    expect((await ask("/servers/it", patch({ name: "new" }))).json.config).toMatchObject({ id: "it", name: "new" });
    expect((await ask("/servers/it")).json.config.name).toBe("new");
    expect(Object.keys(await entries())).toEqual(["new"]);
  });

  it("MG-1 delete_mcp_server: stops the server and removes its entry and its processes", async () => {
    const { ask, hub, home, entries } = await open({ it: fixture("echo") });
    await hub.start();
    const stopped = once(hub.events, "server.status");
    const { status, body } = await ask("/servers/it", { method: "DELETE" });
    expect([status, body]).toEqual([204, ""]);
    expect(await entries()).toEqual({});
    expect((await ask("/servers/it")).status).toBe(404);
    await stopped;
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("MG-1 start_mcp_server, stop_mcp_server: answer with the state that was reached", async () => {
    const { ask } = await open({ it: fixture("echo") });
    expect((await ask("/servers/it/start", POST)).json.status).toBe("running");
    const first = (await ask("/servers/it")).json.pid;
    const restarted = (await ask("/servers/it/restart", POST)).json;
    expect(restarted.status).toBe("running");
    expect(restarted.pid).not.toBe(first);
    expect((await ask("/servers/it/stop", POST)).json).toMatchObject({
      status: "stopped",
      pid: null,
      tools: [],
    });
  });

  it("LC-3 a failed start answers with an error that has the last lines of stderr, without secrets", async () => {
    const { ask } = await open({
      it: { ...failing("API_KEY"), env: { API_KEY: OWN_SECRET } },
      args: {
        command: process.execPath,
        args: ["-e", "console.error(process.argv.at(-1)); process.exit(1)", "--", "--token", OWN_SECRET],
      },
    });
    const { json } = await ask("/servers/it/start", POST);
    expect(json).toEqual(problem(503, "SERVICE_UNAVAILABLE", "ProcessSpawnFailed"));
    expect(json.detail).toContain("fatal: no configuration found\n***");
    expect((await ask("/servers/it")).json).toMatchObject({
      status: "error",
      error: { kind: "ProcessSpawnFailed" },
    });
    expect((await ask("/servers/args/start", POST)).json.detail).toContain("***");
    await ask("/servers/args");
    const logs = (await ask("/servers/it/logs?tail=2")).json;
    expect(logs).toMatchObject({ server: "it", text: "fatal: no configuration found\n***" });
    const stderr = { timestamp: expect.stringMatching(/^\d{4}-.*Z$/), source: "stderr", level: null, logger: null };
    expect(logs.lines).toEqual([
      { ...stderr, text: "fatal: no configuration found" },
      { ...stderr, text: "***" },
    ]);
    expect((await ask("/servers/args/logs")).json.text).toMatch(/^\*\*\*(\n\*\*\*)*$/);
    expect((await ask("/servers/it/logs?tail=1")).json.text).toBe("***");
  });

  it("LC-8 enabling a server that cannot start fails and leaves it disabled, in the file too", async () => {
    const { ask, hub, file, entries } = await open({
      it: { ...failing(), enabled: false },
      works: { ...fixture("echo"), enabled: false },
    });
    await hub.start();
    const before = await file();
    const refused = await ask("/servers/it/enable", POST);
    expect(refused.json).toEqual(problem(503, "SERVICE_UNAVAILABLE", "ProcessSpawnFailed"));
    expect(await file()).toBe(before);
    expect((await ask("/servers/it")).json).toMatchObject({ status: "disabled", config: { enabled: false } });
    expect((await ask("/servers/works/enable", POST)).json).toMatchObject({
      status: "running",
      config: { enabled: true },
    });
    expect((await entries()).works.enabled).toBe(true);
    expect((await ask("/servers/works/disable", POST)).json.config.enabled).toBe(false);
    expect((await entries()).works.enabled).toBe(false);
    await untilState(hub, "works", "disabled");
  });

  it("MG-1 LC-9 test_mcp_server: tests an entry, saves nothing, and leaves no process", async () => {
    const { ask, home, file } = await open({ it: { ...fixture("echo"), env: { API_KEY: OWN_SECRET } } });
    const before = await file();
    const [name = "", value = ""] = home.mark.split("=");
    const works = await ask("/servers/test", post({ ...fixture("echo"), env: { [name]: value } }));
    expect(works.json).toMatchObject({
      success: true,
      message: expect.stringMatching(/^Connected: \d+ tools$/),
      tools: expect.arrayContaining([expect.objectContaining({ name: "add", input_schema: expect.any(Object) })]),
      resources: [{ uri: "test://static" }],
      latency_ms: expect.any(Number),
    });
    const fails = await ask("/servers/test", post({ ...failing("KEY"), env: { KEY: OWN_SECRET, [name]: value } }));
    expect(fails).toMatchObject({
      status: 200,
      json: { success: false, tools: [], error: { kind: "ProcessSpawnFailed" } },
    });
    // *** in an entry with the name of a saved server stands for the saved value.
    const edited = { name: "it", ...failing("API_KEY"), env: { API_KEY: "***", [name]: value } };
    expect((await ask("/servers/test", post(edited))).json.error.detail).toContain("***");
    expect((await ask("/servers/it/test", POST)).json.success).toBe(true);
    expect(await file()).toBe(before);
    expect(processesWithMark(home.mark)).toEqual([]);
  });
});
