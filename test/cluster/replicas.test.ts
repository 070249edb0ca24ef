// Hubs that share a database: what one of them changes, the others know in less than a second.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { fixture, launch, plugboard } from "../support/hub.ts";
import { Postgres, POSTGRES_PROGRAMS } from "../support/postgres.ts";
import { Cluster, type Replica } from "../support/replicas.ts";
import { answerOf, http, modern } from "../support/rpc.ts";

/** The promise is one second, which hub/src/database/changes.test.ts measures; here, a loaded machine may stall. */
const SEEN_MS = 4000;

describe.skipIf(POSTGRES_PROGRAMS === undefined)("SC-2 replicas on PostgreSQL", () => {
  let postgres: Postgres;
  let cluster: Cluster;
  let [one, two]: Replica[] = [];

  beforeAll(async () => {
    postgres = await Postgres.start();
    cluster = await Cluster.open(postgres, { settings: { auth: { mcp: "required" } } });
    [one, two] = await Promise.all([cluster.start("one"), cluster.start("two")]);
  });

  afterAll(async () => {
    await cluster.close();
    await postgres.stop();
  });

  const both = (): [Replica, Replica] => [one ?? expect.unreachable(), two ?? expect.unreachable()];

  const namesOf = async (client: HubClient) => (await client.servers.list()).map(({ config }) => config.name);

  /** Resolves with how long it took. */
  async function until(what: () => Promise<boolean>): Promise<number> {
    const began = performance.now();
    while (!(await what())) {
      if (performance.now() - began > 60_000) throw new Error("It does not happen");
      await sleep(10);
    }
    return performance.now() - began;
  }

  it("servers and groups that are added, changed and removed at one are so at the other", async () => {
    const [{ client }, { client: other }] = both();
    await client.servers.create({ name: "echo", ...fixture("echo") });
    expect(await until(async () => (await namesOf(other)).includes("echo"))).toBeLessThan(SEEN_MS);
    await client.groups.create("work", { servers: ["echo"], tools: ["echo"] });
    expect(await until(async () => (await other.groups.list()).some(({ name }) => name === "work"))).toBeLessThan(
      SEEN_MS,
    );
    await until(async () => (await other.servers.get("echo")).status === "running");
    const result = await other.callTool({ server: "echo", tool: "echo", arguments: { text: "hello" } });
    expect(result.success).toBe(true);
    await other.servers.create({ name: "gone", ...fixture("echo"), enabled: false });
    await other.servers.delete("gone");
    await until(async () => !(await namesOf(client)).includes("gone"));
  });

  it("of two edits of the same revision, one is saved and the other is a conflict", async () => {
    const [{ client }, { client: other }] = both();
    const { revision } = await client.status();
    await until(async () => (await other.status()).revision === revision);
    const edits = [client, other].map((each, index) =>
      each.servers.create({ name: `race${index}`, ...fixture("echo"), enabled: false }, { revision }),
    );
    const outcomes = await Promise.allSettled(edits);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "CONFLICT" } });
    const added = async (each: HubClient) => (await namesOf(each)).filter((name) => name.startsWith("race"));
    await until(async () => (await added(client)).length === 1 && (await added(other)).length === 1);
  });

  it("a token made at one works at the other, until it is revoked", async () => {
    const [{ hub, client }, { hub: second }] = both();
    const { token } = await client.tokens.create({ name: "ci", groups: ["default"] });
    const headers = { authorization: `Bearer ${token}` };
    const status = async (url: string) => (await modern(`${url}/mcp`, "tools/list", {}, headers)).status;
    expect(await status(hub.url)).toBe(200);
    expect(await until(async () => (await status(second.url)) === 200)).toBeLessThan(SEEN_MS);
    await client.tokens.revoke("ci");
    expect(await until(async () => (await status(second.url)) === 401)).toBeLessThan(SEEN_MS);
  });

  it("a secret set at one is used by the servers of both, and starts those that wait for it", async () => {
    const [{ client }, { client: other }] = both();
    const states = () =>
      Promise.all(
        both().map((each) =>
          each.client.servers.get("reader").then(
            ({ status }) => status,
            () => "none",
          ),
        ),
      );
    const reach = (state: string) => until(async () => (await states()).every((each) => each === state));
    await client.secrets.set("greeting", "hello from one");
    const env = { KEY: { secretRef: "greeting", required: true } };
    await other.servers.create({ name: "reader", ...fixture("given"), env });
    await reach("running");
    const { content } = await other.callTool({ server: "reader", tool: "given" });
    expect(JSON.stringify(content)).toContain("hello from one");
    const [row] = await cluster.query("select record from plugboard.sealed where name = 'greeting'");
    expect(String(row?.["record"])).not.toContain("hello");
    await client.secrets.delete("greeting", { force: true });
    expect(await other.secrets.list()).toEqual([]);
    // The outcome is the state.
    for (const each of both()) await each.client.servers.restart("reader").catch(() => undefined);
    await reach("error");
    await client.secrets.set("greeting", "hello again");
    await reach("running");
    await client.servers.delete("reader");
    await client.secrets.delete("greeting");
  });

  it("what administrators do at any of them is in one audit log", async () => {
    const [{ client }, { client: other }] = both();
    await client.secrets.set("a", "1");
    await other.secrets.set("b", "2");
    const actions = (await other.audit.search({ what: "secret.set" })).rows.map(({ object }) => object);
    expect(actions).toEqual(expect.arrayContaining(["a", "b"]));
    expect((await client.audit.verify()).fault).toBeNull();
  });

  it("RS-4 calls at any of them are in one log, and a hub that is killed loses none that it has answered", async () => {
    const third = await cluster.start("third");
    onTestFinished(async () => void (await cluster.query("delete from plugboard.replica where name = 'third'")));
    const [{ client }] = both();
    const call = { server: "echo", tool: "echo", arguments: { text: "hello" }, workflowId: "killed" };
    await until(async () => (await third.client.servers.get("echo")).status === "running");
    for (let count = 0; count < 20; count++) await third.client.callTool(call);
    await third.hub.kill();
    const { items } = await client.calls.list({ workflow_id: "killed" });
    expect(items).toHaveLength(20);
    const [row] = await cluster.query(
      "select count(*)::int as count from plugboard.mcp_call_log where workflow_id = 'killed'",
    );
    expect(row).toEqual({ count: 20 });
  });

  it("two hubs cannot have one name", async () => {
    const home = await cluster.makeHome("one");
    const { finished } = launch(home, ["up", "--port", "0"]);
    expect(await finished).toMatchObject({ code: 7, stderr: expect.stringContaining("is named one") });
  });

  it("a hub with another key does not start", async () => {
    const home = await cluster.makeHome("three");
    const env = { PLUGBOARD_SECRET_KEY: "00".repeat(32) };
    const { code, stderr } = await plugboard(home, ["up", "--port", "0"], { env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("is not that of the cluster")]);
  });

  it("`cluster status` shows who is alive", async () => {
    const home = await cluster.makeHome("look");
    const gone = await cluster.start("gone");
    const states = async () => {
      const { stdout } = await plugboard(home, ["cluster", "status", "--json"]);
      const { replicas }: { replicas: { name: string; alive: boolean }[] } = JSON.parse(stdout);
      return replicas.map(({ name, alive }) => `${name} ${alive}`);
    };
    expect(await states()).toEqual(["gone true", "one true", "two true"]);
    await gone.hub.kill();
    await until(async () => (await states()).includes("gone false"));
    await (await cluster.startIn(gone.hub.home)).hub.stop();
    expect(await states()).toEqual(["one true", "two true"]);
  });

  it("import and export carry config, secrets, tokens and the audit log both ways", async () => {
    const fresh = await Cluster.open(postgres);
    onTestFinished(() => fresh.close());
    const home = await fresh.makeHome("files");
    const files = { ...home, env: { ...home.env, PLUGBOARD_DATABASE_URL: "" } };
    const run = async (where: typeof home, ...args: string[]) => {
      const { code, stdout, stderr } = await plugboard(where, args, { stdin: "value-of-it" });
      expect([args, code, code === 0 ? "" : stderr]).toEqual([args, 0, ""]);
      return stdout;
    };
    await run(files, "secret", "set", "kept");
    await run(files, "add", "--no-test", JSON.stringify({ mcpServers: { echo: fixture("echo") } }));
    await run(files, "group", "add", "work", "--servers", "echo");
    await run(files, "token", "add", "ci", "--group", "work");
    const counts = JSON.parse(await run(home, "cluster", "import", "--json"));
    expect(counts).toMatchObject({ servers: 1, groups: 1, secrets: 1, identity: { token: 1 } });
    expect((await plugboard(home, ["cluster", "import"])).code).toBe(7);
    expect(await run(home, "audit", "verify")).toContain("all as they were written");
    await run(home, "cluster", "export", `${home.dir}/out`);
    const exported = { ...files, env: { ...files.env, PLUGBOARD_HOME: `${home.dir}/out` } };
    expect(await run(exported, "ls", "--json")).toContain('"echo"');
    expect(await run(exported, "secret", "ls", "--json")).toContain('"kept"');
    expect(await run(exported, "token", "ls", "--json")).toContain('"ci"');
    expect(await run(exported, "audit", "verify")).toContain("all as they were written");
  });

  it("SC-5 while the database is away calls continue, changes are refused at once, and the hub stays ready", async () => {
    const own = await Cluster.open(postgres);
    onTestFinished(() => own.close());
    const { hub, client } = await own.start("alone");
    await client.servers.create({ name: "echo", ...fixture("echo") });
    await until(async () => (await client.servers.get("echo")).status === "running");
    const call = { server: "echo", tool: "echo", arguments: { text: "hello" } };
    const ready = async () => {
      const { status, body } = await http(`${hub.url}/readyz`, { method: "GET" });
      return `${status} ${JSON.parse(body).status}`;
    };
    expect(await ready()).toBe("200 ok");
    await postgres.kill();
    onTestFinished(() => postgres.stop().catch(() => undefined));
    await until(async () => (await ready()) === "200 degraded");
    const answered = 5;
    for (let count = 0; count < answered; count++) expect((await client.callTool(call)).success).toBe(true);
    const began = performance.now();
    const unavailable = { kind: "DatabaseUnavailable", code: "SERVICE_UNAVAILABLE" };
    await expect(client.servers.create({ name: "b", ...fixture("echo") })).rejects.toMatchObject(unavailable);
    await expect(client.secrets.set("a", "1")).rejects.toMatchObject(unavailable);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect((await client.status()).degraded).toContainEqual(expect.stringContaining("cannot be used now"));

    // A hub that starts now waits, and says why.
    const late = launch(await own.makeHome("late"), ["up", "--port", "0"]);
    onTestFinished(() => void late.process.kill("SIGKILL"));
    let [said, shown] = ["", ""];
    late.process.stderr.on("data", (chunk) => (said += String(chunk)));
    late.process.stdout.on("data", (chunk) => (shown += String(chunk)));
    await until(async () => said.includes("waiting: The database"));
    expect(shown).toBe("");
    await postgres.restart();
    await until(async () => (await ready()) === "200 ok");
    await until(async () => shown.includes("/api/v1"));
    await client.servers.create({ name: "b", ...fixture("echo"), enabled: false });
    expect(await namesOf(client)).toEqual(["echo", "b"]);
    expect((await client.callTool(call)).success).toBe(true);
    // Those that ended meanwhile waited in the journal.
    await until(async () => (await client.calls.list()).items.length === answered + 1);
    expect(answerOf((await modern(`${hub.url}/mcp`, "tools/list")).body)).toHaveProperty("result");
  });
});
