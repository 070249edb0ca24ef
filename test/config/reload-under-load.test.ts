// The config files of a running hub are rewritten repeatedly, in all the ways in which people and editors do it, while clients
// call tools. Servers that an edit does not touch keep their process, and no call fails.

import { readdirSync, readFileSync } from "node:fs";
import { readFile, rename, utimes, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { HubClient } from "../../hub/src/api/client/client.ts";
import { ConfigFiles } from "../../hub/src/config/files/config-files.ts";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import type { LoadedConfig } from "../../hub/src/config/files/config-store.ts";
import { Hub } from "../../hub/src/hub/hub.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { fixture, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark, seesTags, untilNoneWithMark } from "../support/processes.ts";
import { withSeed } from "../support/random.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";
import { openStream, type Messages } from "../support/streams.ts";
import { isLongRun, scaled } from "../support/scale.ts";

/** 1000 in the long lane, which takes some minutes. */
const RELOADS = scaled(60, 1000);
const UNCHANGED = ["one", "two", "three", "far"];
/** The pause of a client between two calls, which leaves processor time to the hub. */
const PAUSE_MS = 5;

type Entries = Record<string, unknown>;

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).toReversed()) await undo();
});

it.runIf(seesTags)(
  `CF-9 F38 ${RELOADS} reloads keep unchanged servers and fail no call`,
  { timeout: 60_000 + RELOADS * 5000 },
  () =>
    withSeed(async (random, seed) => {
      const startedAt = performance.now();
      const { hub, home, files } = await openHub();
      const client = await clientOf(hub);
      const stream = await openStream(`${hub.url}/api/v1/events?topics=config`, {
        headers: { authorization: `Bearer ${await tokenOf(home)}` },
      });
      cleanUp.push(() => stream.close());
      const clients = await Clients.open(`${hub.url}/mcp/work`);
      cleanUp.push(() => clients.stop());
      // From the first call of a legacy client on, the server that supports both eras has a second process.
      await clients.more();
      const before = await lifeOf(client);
      const processes = new Set(processesWithMark(home.mark));
      const resources = resourcesOf(hub);
      const editor = new Editor(files, { client, messages: stream.messages, random });

      while (editor.reloads < RELOADS) await editor.step();
      await editor.restore();

      expect(await lifeOf(client)).toEqual(before);
      // One more round of calls in the same sessions.
      await clients.more();
      await clients.stop();
      expect(clients.failures).toEqual([]);
      expect(Object.keys((await client.config.export()).mcpServers).toSorted()).toEqual(UNCHANGED.toSorted());
      expect((await client.groups.list()).map(({ name }) => name).toSorted()).toEqual(["default", "last", "work"]);
      await expect.poll(() => new Set(processesWithMark(home.mark))).toEqual(processes);
      // Connections of the test come and go; a leak would grow with every reload.
      await expect.poll(() => resourcesOf(hub).fds).toBeLessThanOrEqual(resources.fds + 5);
      expect(resourcesOf(hub).children).toBe(resources.children);
      if (isLongRun) {
        const { reloads, accepted, rejected, unchanged } = editor;
        const seconds = (performance.now() - startedAt) / 1000;
        const figures = {
          reloads,
          accepted,
          rejected,
          unchanged,
          calls: clients.calls,
          failed: clients.failures.length,
        };
        process.stdout.write(
          `${JSON.stringify({ ...figures, fds: [resources.fds, resourcesOf(hub).fds], seconds, seed })}\n`,
        );
      }
    }),
);

it("F38 rapid saves are loaded one at a time, and the last one takes effect", async () => {
  const home = await makeHome({ one: fixture("echo") });
  cleanUp.push(() => home.remove());
  const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
  const files = new CountedFiles(paths.config);
  const hub = await Hub.open({ paths, variables: home.env, store: files });
  cleanUp.push(() => hub.stop());
  await hub.start();
  await hub.configuration.watch();
  const { pid } = hub.supervisor.get("one");
  const groupFile = join(paths.config, "group.json");
  const groups = (last: number) => JSON.stringify({ [`g${last}`]: { servers: ["one"] } });
  const inForce = new Promise<void>((resolve) => {
    hub.events.on("config.reloaded", () => {
      if (hub.catalog.groupNames.includes("g99")) resolve();
    });
  });
  const asked: Promise<unknown>[] = [];
  for (let n = 0; n < 100; n++) {
    if (n % 2 === 0) await writeFile(groupFile, groups(n));
    else await saveAtomically(groupFile, groups(n));
    // An explicit reload, concurrent with the watcher. Between two steps of a save there may be no file.
    asked.push(hub.configuration.reload().catch(() => undefined));
  }
  await inForce;
  await Promise.all(asked);
  expect(files.most).toBe(1);
  expect(hub.configuration.current.groups.map(({ name }) => name)).toEqual(["g99"]);
  expect(hub.supervisor.get("one").pid).toBe(pid);
});

it("F38 continuous saves do not delay the reload indefinitely", async () => {
  const home = await makeHome({ one: fixture("echo") });
  cleanUp.push(() => home.remove());
  const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
  const hub = await Hub.open({ paths, variables: home.env });
  cleanUp.push(() => hub.stop());
  await hub.configuration.watch();
  const seen: string[] = [];
  hub.events.once("config.reloaded", ({ description }) => seen.push(description));
  for (let n = 0; n < 1000 && seen.length === 0; n++) {
    await saveAtomically(join(paths.config, "group.json"), JSON.stringify({ [`g${n}`]: { servers: ["one"] } }));
    await sleep(20);
  }
  expect(seen).toEqual([expect.stringMatching(/^added the group g\d+$/)]);
});

interface ConfigOnDisk {
  readonly folder: string;
  readonly servers: Entries;
  readonly other: Entries;
}

async function openHub(): Promise<{ hub: RunningHub; home: Home; files: ConfigOnDisk }> {
  const far: Remote = await startRemote("modern-http");
  cleanUp.push(() => far.stop());
  const all = {
    one: fixture("echo"),
    two: fixture("modern"),
    three: fixture("dual"),
    far: far.entry,
    other: fixture("echo"),
  };
  const home = await makeHome(all, { work: { servers: UNCHANGED } });
  cleanUp.push(() => home.remove());
  const folder = join(home.dir, "config");
  const { other, ...servers }: Record<string, Entries> = JSON.parse(
    await readFile(join(folder, "mcp_server.json"), "utf8"),
  ).mcpServers;
  await writeFile(join(folder, "mcp_server.json"), JSON.stringify({ mcpServers: servers }));
  const hub = await startHub(home);
  cleanUp.push(async () => {
    await hub.stop();
    await untilNoneWithMark(home.mark);
  });
  return { hub, home, files: { folder, servers, other: other ?? {} } };
}

/** What must not change: the process of each server and its start time. */
async function lifeOf(client: HubClient): Promise<unknown[]> {
  const servers = (await client.servers.list()).filter(({ config }) => UNCHANGED.includes(config.name));
  return servers.map(({ config, status, pid, since }) => [config.name, status, pid, since]);
}

function resourcesOf({ process: { pid } }: RunningHub): { fds: number; children: number } {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return { fds: readdirSync(`/proc/${pid}/fd`).length, children: children.split(" ").length };
}

/** Two clients of each era, which call the tools of all servers in turn until they are stopped. */
class Clients {
  calls = 0;
  readonly failures: string[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #lanes: Promise<void>[] = [];
  #stopped = false;

  static async open(url: string): Promise<Clients> {
    const clients = new Clients();
    for (let each = 0; each < 2; each++) {
      const session = await connect(url, "2025-11-25", clients.#agent);
      clients.#lanes.push(clients.#call((params) => session.request("tools/call", params)));
      clients.#lanes.push(
        clients.#call(async (params) => answerOf((await modern(url, "tools/call", params, {}, clients.#agent)).body)),
      );
    }
    return clients;
  }

  /** Resolves when every client has called every server again. */
  async more(): Promise<void> {
    const enough = this.calls + 8 * UNCHANGED.length;
    while (this.calls < enough && this.failures.length === 0) await sleep(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
    this.#agent.destroy();
  }

  async #call(ask: (params: Record<string, unknown>) => Promise<unknown>): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      const name = `${UNCHANGED[n % UNCHANGED.length]}__echo`;
      this.calls++;
      const answer = await ask({ name, arguments: { text: `call ${n}` } }).catch((error: unknown) => String(error));
      const said = JSON.stringify(answer);
      if (!said.includes(`"text":"call ${n}"`)) this.failures.push(`${name}: ${said}`);
      await sleep(PAUSE_MS);
    }
  }
}

interface EditorOptions {
  readonly client: HubClient;
  readonly messages: Messages;
  readonly random: () => number;
}

/** Rewrites the files in random ways and waits for the hub to report each reload. */
class Editor {
  accepted = 0;
  rejected = 0;
  unchanged = 0;
  readonly #files: ConfigOnDisk;
  readonly #options: EditorOptions;
  #edits = 0;
  #hasOther = false;
  #groups: Entries = {};

  constructor(files: ConfigOnDisk, options: EditorOptions) {
    this.#files = files;
    this.#options = options;
  }

  get reloads(): number {
    return this.accepted + this.rejected + this.unchanged;
  }

  async step(): Promise<void> {
    const steps = [
      () => this.#saveServers({ other: true, how: saveAtomically }),
      () => this.#saveServers({ other: true, how: writeFile }),
      () => this.#saveServers({ other: true, how: (path, text) => this.#halfFirst(path, text) }),
      () => this.#saveServers({ other: !this.#hasOther, how: saveAtomically }),
      () => this.#saveGroups({ [`g${this.#edits}`]: { servers: ["one", "far"] } }, saveAtomically),
      () => this.#saveGroups({ [`g${this.#edits}`]: { servers: ["other", "two"] } }, writeFile),
      () => this.#saveGroups({ [`g${this.#edits}`]: {} }, (path, text) => this.#brokenFirst(path, text)),
      () => this.#touch(),
    ];
    await steps[Math.floor(this.#options.random() * steps.length)]?.();
  }

  /** Restores the original servers, with a group that no step creates. */
  async restore(): Promise<void> {
    if (this.#hasOther) await this.#saveServers({ other: false, how: writeFile });
    await this.#saveGroups({ last: { servers: ["one"] } }, saveAtomically);
  }

  async #saveServers({ other, how }: { other: boolean; how: Save }): Promise<void> {
    // A new environment each time, so that the server must be replaced.
    const { servers, other: entry, folder } = this.#files;
    const env = { ...(entry["env"] as object), EDIT: String(this.#edits++) };
    const all = other ? { ...servers, other: { ...entry, env } } : servers;
    if (!other && !this.#hasOther) return;
    this.#hasOther = other;
    await this.#until("config.reloaded", () =>
      how(join(folder, "mcp_server.json"), JSON.stringify({ mcpServers: all }, undefined, 2)),
    );
  }

  async #saveGroups(groups: Entries, how: Save): Promise<void> {
    this.#edits++;
    this.#groups = { work: { servers: UNCHANGED }, ...groups };
    await this.#until("config.reloaded", () =>
      how(join(this.#files.folder, "group.json"), JSON.stringify(this.#groups, undefined, 2)),
    );
  }

  /** A save that the hub reads half written, sometimes as an empty file. */
  async #halfFirst(path: string, text: string): Promise<void> {
    const length = this.#options.random() < 0.3 ? 0 : 1 + Math.floor(this.#options.random() * (text.length - 3));
    await this.#until("config.rejected", () => writeFile(path, text.slice(0, length)));
    await writeFile(path, text);
  }

  async #brokenFirst(path: string, text: string): Promise<void> {
    await this.#until("config.rejected", () => writeFile(path, text.replace("{", "[")));
    await saveAtomically(path, text);
  }

  async #touch(): Promise<void> {
    const now = new Date();
    await utimes(join(this.#files.folder, "mcp_server.json"), now, now);
    const { description } = await this.#options.client.config.reload();
    expect(description).toBe("nothing");
    this.unchanged++;
  }

  /** Saves and waits for the event that reports it. */
  async #until(event: "config.reloaded" | "config.rejected", save: () => Promise<void>): Promise<void> {
    const { messages } = this.#options;
    const before = messages.all.length;
    const said = (message: object) => {
      if ("error" in message) return "config.rejected";
      // The watcher reports a touched file as unchanged; that is not the report of a later save.
      return "description" in message && message.description === "nothing" ? "nothing" : "config.reloaded";
    };
    await save();
    await messages.find((message) => messages.all.indexOf(message) >= before && said(message) === event);
    if (event === "config.reloaded") this.accepted++;
    else this.rejected++;
  }
}

type Save = (path: string, text: string) => Promise<void>;

async function saveAtomically(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

/** The real files, with the maximum number of concurrent readers. */
class CountedFiles extends ConfigFiles {
  most = 0;
  #readers = 0;

  override async load(): Promise<LoadedConfig> {
    this.most = Math.max(this.most, ++this.#readers);
    try {
      return await super.load();
    } finally {
      this.#readers--;
    }
  }
}
