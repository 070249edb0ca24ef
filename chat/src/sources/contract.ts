// What every live source must do, as one suite. A source's test gives it the network, real or double, as somebody else uses it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChatSource, NativeMessage, SourceEvent, SourceState } from "../source.ts";
import { openStore } from "../store/store.ts";
import type { Timing } from "./timing.ts";

/** The same source for another process. */
export interface SourceProgram {
  /** Under `dist`. */
  readonly module: string;
  readonly create: string;
  readonly options: { readonly id: string } & Readonly<Record<string, unknown>>;
  /** Options that are functions there. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** One network, one account that the source uses, and one other person who writes to it. */
export interface Network {
  createSource(timing: Timing): ChatSource;
  /** The same source, sent to a server that takes connections and never says a word. */
  createSourceAt(port: number, timing: Timing): ChatSource;
  program(): SourceProgram;
  /** `at` only where the network lets the sender say when; it may ignore it. */
  say(text: string, at?: number): Promise<void>;
  /** The target as `target` gives it, or one that nobody has ever seen. */
  edit(target: string, text: string): Promise<void>;
  remove(target: string): Promise<void>;
  react(target: string, emoji: string): Promise<void>;
  /** How the network's users refer to a message that has arrived. */
  target(message: NativeMessage): string;
  /** Of a message that nobody has seen. */
  unseenTarget(): string;
  /** Every connection ends, at once and without a word. */
  cut(): Promise<void>;
  /** The account's credentials are no longer good, or are again. */
  refuse(refused: boolean): Promise<void>;
  /** How many connections of the source wait for something. */
  open(): number | Promise<number>;
  close(): Promise<void>;
}

export interface ContractTraits {
  /** Whether the network can hand out again what was not acknowledged, to a client that was away. */
  readonly keepsWhileAway: boolean;
  /** Whether it tells of a deletion in the chats that the suite uses. */
  readonly tellsDeletion: boolean;
  /** How many messages are a lot. */
  readonly many: number;
}

export function describeSource(name: string, traits: ContractTraits, createNetwork: () => Promise<Network>): void {
  describe(`CH-12 the source ${name}`, () => {
    let network: Network;
    let silent: SilentServer;
    beforeAll(async () => {
      silent = await SilentServer.start();
    });
    afterAll(() => silent.close());
    beforeEach(async () => {
      network = await createNetwork();
    });
    const children: SourceProcess[] = [];
    afterEach(async () => {
      for (const child of children.splice(0)) child.stop("SIGKILL");
      await network.close();
    });

    const start = (options: RunOptions = {}): Run => new Run((timing) => network.createSource(timing), options);

    it("tells that it connects and is connected, and hands over what comes", async () => {
      const run = start();
      await run.connected();
      await network.say("hello");
      const message = await run.message("hello");
      expect(message.kind).toBe("text");
      expect(message.sender).toBeTypeOf("string");
      expect(run.chats.get(message.chat)).toBeDefined();
      expect(run.people.get(message.sender ?? "")).toBeDefined();
      expect(run.statuses()).toEqual(["connecting", "connected"]);
      await run.stop();
    });

    it("starts again from nothing and gives each message the same id", async () => {
      const run = start();
      await run.connected();
      await network.say("once");
      await network.say("twice");
      await run.message("twice");
      await run.stop();
      const again = start({ recorder: run.recorder });
      await again.connected();
      await network.say("third");
      await again.message("third");
      await again.stop();
      expect(contents(again)).toEqual(["once", "twice", "third"]);
    });

    it("goes on from its checkpoint", async () => {
      const run = start();
      await run.connected();
      await network.say("before");
      await run.message("before");
      await run.stop();
      const again = start({ checkpoint: run.recorder.checkpoint });
      await again.connected();
      await network.say("after");
      await again.message("after");
      await again.stop();
      if (traits.keepsWhileAway) expect(contents(again)).toEqual(["after"]);
      else expect(contents(again)).toContain("after");
    });

    it("passes on an edit, a reaction and a deletion, with the id of the message", async () => {
      const run = start();
      await run.connected();
      await network.say("first words");
      const message = await run.message("first words");
      await network.edit(network.target(message), "second words");
      const edit = await run.event("edit", (event) => event.content === "second words");
      expect({ chat: edit.chat, id: edit.id }).toEqual({ chat: message.chat, id: message.id });
      await network.react(network.target(message), "👍");
      const reaction = await run.event("reaction", (event) => event.emoji === "👍");
      expect({ chat: reaction.chat, id: reaction.id, removed: reaction.removed }).toEqual({
        chat: message.chat,
        id: message.id,
        removed: false,
      });
      if (!traits.tellsDeletion) return await run.stop();
      await network.remove(network.target(message));
      const removal = await run.event("delete", (event) => event.ids.includes(message.id));
      expect(removal.chat).toBe(message.chat);
      await run.stop();
    });

    it("survives an edit, a reaction and a deletion of what it never saw", async () => {
      const run = start();
      await run.connected();
      await network.edit(network.unseenTarget(), "of nothing");
      await network.react(network.unseenTarget(), "🤷");
      await network.remove(network.unseenTarget());
      await network.say("still there");
      await run.message("still there");
      expect(run.statuses()).toEqual(["connecting", "connected"]);
      await run.stop();
    });

    it("takes messages whose clock goes backwards", async () => {
      const run = start();
      await run.connected();
      const now = Date.now();
      await network.say("later", now);
      await network.say("earlier", now - 3_600_000);
      await run.message("later");
      await run.message("earlier");
      expect(contents(run)).toEqual(["later", "earlier"]);
      await run.stop();
    });

    it("takes many at once, each once, in bounded batches", async () => {
      const run = start();
      await run.connected();
      const texts = Array.from({ length: traits.many }, (_, index) => `message ${index}`);
      for (const text of texts) await network.say(text);
      await run.message(`message ${traits.many - 1}`);
      await run.stop();
      expect(contents(run)).toEqual(texts);
      expect(Math.max(...run.recorder.batchSizes)).toBeLessThanOrEqual(1000);
    });

    it("comes back after a cut connection, later each time, and misses nothing that the network keeps", async () => {
      const run = start();
      await run.connected();
      await network.say("before the cut");
      await run.message("before the cut");
      for (const attempt of [1, 2, 3]) {
        await network.cut();
        if (traits.keepsWhileAway) await network.say(`while away ${attempt}`);
        await run.connected(attempt + 1);
        await network.say(`back ${attempt}`);
        await run.message(`back ${attempt}`);
        if (traits.keepsWhileAway) await run.message(`while away ${attempt}`);
      }
      await run.stop();
      // With chance at the middle there is no jitter.
      expect(run.pauses.slice(0, 3)).toEqual([1000, 2000, 4000]);
      const lost = run.states.find(({ status }) => status === "disconnected");
      expect(lost).toMatchObject({ message: expect.any(String), howToConnect: expect.stringMatching(/\w/) });
      expect(new Set(contents(run)).size).toBe(contents(run).length);
    });

    it("hands over again what could not be stored", async () => {
      const run = start();
      await run.connected();
      run.recorder.rejectNext("fragile");
      await network.say("fragile");
      await run.message("fragile");
      await network.say("and more");
      await run.message("and more");
      await run.stop();
      expect(run.statuses()).toContain("error");
      expect(contents(run)).toEqual(["fragile", "and more"]);
    });

    it.runIf(traits.keepsWhileAway)("loses and doubles nothing when it is killed around a commit", async () => {
      const folder = await mkdtemp(join(tmpdir(), "plugboard-chat-source-"));
      const path = join(folder, "chat.db");
      const program = network.program();
      const said: string[] = [];
      for (const moment of ["after", "before", "before", "after"] as const) {
        const child = new SourceProcess(program, path, moment);
        children.push(child);
        // What a killed one left is there at once, and kills this one too.
        await Promise.race([child.line("connected"), child.exited]);
        said.push(`killed ${moment} ${said.length}`);
        await network.say(said.at(-1) ?? "");
        expect(await child.exited).toBe("SIGKILL");
      }
      const last = new SourceProcess(program, path, "never");
      children.push(last);
      await last.line("connected");
      said.push("the end");
      await network.say("the end");
      await last.line("message the end");
      last.stop("SIGTERM");
      expect(await last.exited).toBe(0);
      const store = await openStore(path);
      const { items } = store.messages({ order: "asc", limit: 100, includeSystem: false });
      await store.close();
      await rm(folder, { recursive: true });
      expect(items.map(({ content }) => content).toSorted()).toEqual(said.toSorted());
    });

    it("says that the credentials are refused, and finds new ones by itself", async () => {
      await network.refuse(true);
      const run = start();
      const state = await run.state("needs_auth");
      expect(state).toMatchObject({ howToConnect: expect.stringMatching(/\w/) });
      await network.refuse(false);
      await run.connected();
      await run.stop();
      expect(Math.max(...run.pauses)).toBeGreaterThanOrEqual(60_000);
    });

    it("ends at once, with nothing left open, when told to", async () => {
      const run = start();
      await run.connected();
      await run.stop();
      await expect.poll(() => network.open(), { timeout: 30_000 }).toBe(0);
      expect(run.states.at(-1)?.status).toBe("disconnected");
    });

    it("ends at once while it connects", async () => {
      const run = new Run((timing) => network.createSourceAt(silent.port, timing), {});
      await silent.connection();
      await run.stop();
      expect(run.statuses()).toEqual(["connecting", "disconnected"]);
    });

    it("ends at once while it waits to try again", async () => {
      const run = new Run((timing) => network.createSourceAt(silent.closedPort, timing), { holdPauses: true });
      await run.state("disconnected");
      await run.stop();
      expect(run.pauses).toEqual([1000]);
    });
  });
}

/** What people said. */
function contents(run: Run): string[] {
  return [...run.recorder.messages.values()].flatMap(({ kind, content }) => (kind === "system" ? [] : [content]));
}

interface RunOptions {
  readonly checkpoint?: Readonly<Record<string, string>>;
  readonly recorder?: Recorder;
  readonly holdPauses?: boolean;
}

/** A source that runs, and all that it told. Waits are for events; a hang is the test's time-out. */
export class Run {
  readonly recorder: Recorder;
  readonly states: SourceState[] = [];
  readonly pauses: number[] = [];
  readonly logged: string[] = [];
  readonly source: ChatSource;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(
    create: (timing: Timing) => ChatSource,
    { checkpoint = {}, recorder, holdPauses = false }: RunOptions = {},
  ) {
    this.recorder = recorder ?? new Recorder();
    this.source = create(this.#timing(holdPauses));
    this.#ended = this.source.run({
      sink: (batch) => this.recorder.take(batch),
      checkpoint,
      onState: (state) => {
        this.states.push(state);
        this.recorder.changed();
      },
      signal: this.#stop.signal,
      log: { info: (text) => this.logged.push(text), warn: (text) => this.logged.push(text) },
      now: Date.now,
    });
  }

  get chats(): Recorder["chats"] {
    return this.recorder.chats;
  }

  get people(): Recorder["people"] {
    return this.recorder.people;
  }

  statuses(): string[] {
    return this.states.map(({ status }) => status);
  }

  /** For the so manieth time. */
  connected(times = 1): Promise<true> {
    return this.recorder.until(
      () => this.statuses().filter((status) => status === "connected").length >= times || undefined,
    );
  }

  state(status: SourceState["status"]): Promise<SourceState> {
    return this.recorder.until(() => this.states.find((state) => state.status === status));
  }

  message(content: string): Promise<NativeMessage> {
    return this.recorder.until(() =>
      [...this.recorder.messages.values()].find((message) => message.content === content),
    );
  }

  event<T extends SourceEvent["type"]>(
    type: T,
    matches: (event: Extract<SourceEvent, { type: T }>) => boolean,
  ): Promise<Extract<SourceEvent, { type: T }>> {
    const isWanted = (event: SourceEvent): event is Extract<SourceEvent, { type: T }> =>
      event.type === type && matches(event as Extract<SourceEvent, { type: T }>);
    return this.recorder.until(() => this.recorder.events.find(isWanted));
  }

  /** Ends within the test's time, or the test fails. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  /** Pauses are noted, and over in no time; or stay until the end. */
  #timing(holdPauses: boolean): Timing {
    return {
      chance: () => 0.5,
      pause: (ms, signal) => {
        this.pauses.push(ms);
        return new Promise((resolve) => {
          if (!holdPauses) setTimeout(resolve, 20);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      },
    };
  }
}

/** Takes batches as the store does: all or nothing, and what is there already changes nothing. */
export class Recorder {
  readonly events: SourceEvent[] = [];
  readonly messages = new Map<string, NativeMessage>();
  readonly chats = new Map<string, Extract<SourceEvent, { type: "chat" }>["chat"]>();
  readonly people = new Map<string, Extract<SourceEvent, { type: "person" }>["person"]>();
  readonly batchSizes: number[] = [];
  checkpoint: Readonly<Record<string, string>> = {};
  #rejected: string | undefined;
  readonly #waiting = new Set<() => void>();

  /** The next batch with this message is refused. */
  rejectNext(content: string): void {
    this.#rejected = content;
  }

  async take(batch: readonly SourceEvent[]): Promise<void> {
    const isRejected = batch.some((event) => event.type === "message" && event.message.content === this.#rejected);
    if (isRejected) {
      this.#rejected = undefined;
      throw Object.assign(new Error("disk full"), { code: "SQLITE_FULL" });
    }
    this.batchSizes.push(batch.length);
    for (const event of batch) this.#apply(event);
    this.changed();
  }

  changed(): void {
    for (const look of this.#waiting) look();
  }

  /** Looks again at every change. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #apply(event: SourceEvent): void {
    this.events.push(event);
    if (event.type === "chat") this.chats.set(event.chat.id, { ...this.chats.get(event.chat.id), ...event.chat });
    if (event.type === "person")
      this.people.set(event.person.id, { ...this.people.get(event.person.id), ...event.person });
    if (event.type === "checkpoint") this.checkpoint = event.state;
    if (event.type !== "message") return;
    const key = `${event.message.chat} ${event.message.id}`;
    if (!this.messages.has(key)) this.messages.set(key, event.message);
  }
}

/** A source in a process of its own, that writes into a store. */
class SourceProcess {
  /** The code, or the signal that ended it. */
  readonly exited: Promise<unknown>;
  readonly #child: ReturnType<typeof spawn>;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(program: SourceProgram, path: string, moment: "before" | "after" | "never") {
    const script = fileURLToPath(new URL("run-source.mjs", import.meta.url));
    const dist = fileURLToPath(new URL("../../dist", import.meta.url));
    const args = [script, dist, path, JSON.stringify(program), moment];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.#child = child;
    this.exited = once(child, "exit").then(([code, signal]: unknown[]) => signal ?? code);
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#lines.push(line);
      for (const look of this.#waiting) look();
    });
  }

  line(wanted: string): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.#lines.includes(wanted)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  stop(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** Takes connections and says nothing; and a port where nobody listens. */
class SilentServer {
  readonly port: number;
  readonly closedPort: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #onConnection: (() => void)[] = [];

  static async start(): Promise<SilentServer> {
    const [server, closed] = await Promise.all([listen(), listen()]);
    const closedPort = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));
    return new SilentServer(server, closedPort);
  }

  private constructor(server: Server, closedPort: number) {
    this.#server = server;
    this.port = portOf(server);
    this.closedPort = closedPort;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => this.#sockets.delete(socket));
      for (const told of this.#onConnection.splice(0)) told();
    });
  }

  connection(): Promise<void> {
    if (this.#sockets.size > 0) return Promise.resolve();
    return new Promise((resolve) => this.#onConnection.push(resolve));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function listen(): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}
