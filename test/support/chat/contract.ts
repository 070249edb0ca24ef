// Contract tests of all sources, networks and files. A source's test supplies a network (real or double) or an export. Tests
// depend on declared capabilities, never on the name of a source.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChatStore } from "../../../chat/src/model/store-port.ts";
import {
  CHANGES,
  type Change,
  type ChatSource,
  type NativeMessage,
  type SourceEvent,
} from "../../../chat/src/model/source.ts";
import { REAL_TIMING, type Timing } from "../../../chat/src/sources/backoff.ts";
import { openStore } from "../../../chat/src/store/store.ts";
import { Recorder, SOURCE } from "./recorder.ts";
import { SilentServer } from "./silent-server.ts";
import { SourceProcess, type Entry } from "./source-process.ts";
import { Run, type RunOptions } from "./source-run.ts";

/** The action, or the reason why the network has none. */
export type NetworkAction<T> = T | Cannot;

interface Cannot {
  readonly cannot: string;
}

/** The target comes from `target`, or is unknown to the source. */
export interface NetworkActions extends Record<Change, unknown> {
  readonly edits: NetworkAction<(target: string, text: string) => Promise<void>>;
  /** Returns the emoji as the source emits it. */
  readonly reactions: NetworkAction<(target: string) => Promise<string>>;
  readonly deletions: NetworkAction<(target: string) => Promise<void>>;
}

export interface SendOptions {
  /** Send time; networks may ignore it. */
  readonly at?: number;
  /** Use a chat where the network reports deletions. */
  readonly isToBeRemoved?: boolean;
}

/** A message that can be referred to before it is sent. */
export interface ReservedMessage {
  readonly target: string;
  say(): Promise<void>;
}

/** For sources with a connection. */
export interface Line {
  /** The same source, connected to a server that accepts connections and stays silent. */
  sourceAt(port: number, timing: Timing): ChatSource;
  /** Drops every connection. */
  cut(): Promise<void>;
}

/** A network or export with the source's account and one other person who writes to it. */
export interface Network {
  createSource(timing: Timing): ChatSource;
  /** The same source as an entry of chat.json. */
  entry(): Entry;
  readonly line?: Line;
  /**
   * For networks with exports: events of the account's export, with these messages and an older one (`older`) in the private
   * chat with the other person.
   */
  readonly exported?: (messages: readonly NativeMessage[], older: string) => Promise<readonly SourceEvent[]>;
  readonly actions: NetworkActions;
  send(text: string, how?: SendOptions): Promise<void>;
  sendAll(texts: readonly string[]): Promise<void>;
  readonly reserve: NetworkAction<(text: string, how?: SendOptions) => ReservedMessage>;
  /** The network's reference to a received message. */
  target(message: NativeMessage): string;
  /** Reference to an unknown message. */
  unseenTarget(): string;
  /** Removes and restores what the source needs to start: credentials or the file. */
  refuse(refused: boolean): Promise<void>;
  readonly refusedAs: "needs_auth" | "error";
  /** Number of open connections or files of the source. */
  open(): number | Promise<number>;
  close(): Promise<void>;
}

export interface ContractTraits {
  /** Whether unacknowledged messages are delivered again after a reconnect. */
  readonly keepsWhileAway: boolean;
  /** Size of the bulk test: 100,000 by specification; a real server may allow less. */
  readonly many: number;
}

type Skip = (note: string) => never;

export function describeSource(name: string, traits: ContractTraits, createNetwork: () => Promise<Network>): void {
  describe(`CH-12 the source ${name}`, () => {
    let network: Network;
    let store: ChatStore;
    let silent: SilentServer;
    let runs: Run[];
    let children: SourceProcess[];
    beforeAll(async () => {
      silent = await SilentServer.start();
    });
    afterAll(() => silent.close());
    beforeEach(async () => {
      [runs, children] = [[], []];
      network = await createNetwork();
      store = await openStore(":memory:");
    });
    afterEach(async () => {
      for (const child of children) child.stop("SIGKILL");
      for (const run of runs) await run.stop();
      await network.close();
      await store.close();
    });

    const begin = (create: (timing: Timing) => ChatSource, options: RunOptions = {}): Run => {
      const run = new Run(create, { recorder: new Recorder(store), ...options });
      runs.push(run);
      return run;
    };
    const start = (options?: RunOptions): Run => begin((timing) => network.createSource(timing), options);
    const streams = (): boolean => network.createSource(REAL_TIMING).capabilities.stream;

    it("declares exactly the capabilities of its network", () => {
      const { changes, stream } = network.createSource(REAL_TIMING).capabilities;
      expect(CHANGES.filter((change) => typeof network.actions[change] === "function")).toEqual([...changes]);
      expect(network.line !== undefined).toBe(stream);
    });

    it("reports connecting and connected, and delivers messages", async () => {
      const run = start();
      await run.connected();
      await network.send("hello");
      const message = await run.message("hello");
      expect(message.kind).toBe("text");
      expect(message.sender).toBeTypeOf("string");
      expect(run.chats.get(message.chat)).toBeDefined();
      expect(run.people.get(message.sender ?? "")).toBeDefined();
      expect(run.isSteady()).toBe(true);
    });

    it("gives each message the same id after a fresh start", async () => {
      const run = start();
      await run.connected();
      await network.send("once");
      await network.send("twice");
      await run.message("twice");
      await run.stop();
      const again = start({ recorder: run.recorder });
      await again.connected();
      await network.send("third");
      await again.message("third");
      expect(contents(again)).toEqual(["once", "twice", "third"]);
      expect(again.recorder.stored().map(({ content }) => content)).toEqual(["once", "twice", "third"]);
    });

    it("continues from its checkpoint", async () => {
      const run = start();
      await run.connected();
      await network.send("before");
      await run.message("before");
      await run.stop();
      const again = start({ checkpoint: run.recorder.checkpoint });
      await again.connected();
      if (traits.keepsWhileAway) expect(contents(again)).toEqual([]);
      await network.send("after");
      await again.message("after");
      if (traits.keepsWhileAway && streams()) expect(contents(again)).toEqual(["after"]);
      else expect(contents(again)).toContain("after");
      expect(again.recorder.stored().map(({ content }) => content)).toEqual(["before", "after"]);
    });

    it("delivers an edit with the id of its message", async ({ skip }) => {
      const edit = able(network.actions.edits, skip);
      const run = start();
      await run.connected();
      await network.send("first words");
      const message = await run.message("first words");
      await edit(network.target(message), "second words");
      const stored = await run.stored("second words");
      expect({ chat: stored.chat.id, id: stored.id }).toEqual({ chat: message.chat, id: message.id });
      expect(run.recorder.stored()).toHaveLength(1);
    });

    it("delivers a reaction with the id of its message", async ({ skip }) => {
      const react = able(network.actions.reactions, skip);
      const run = start();
      await run.connected();
      await network.send("well said");
      const message = await run.message("well said");
      const sign = await react(network.target(message));
      const reactions = await run.arrival("the reaction", () => reactionsTo(run, message.id));
      expect(reactions).toEqual([{ emoji: sign, count: 1, by: [expect.any(String)] }]);
    });

    it("delivers a deletion with the id of its message", async ({ skip }) => {
      const remove = able(network.actions.deletions, skip);
      const run = start();
      await run.connected();
      await network.send("stays");
      await network.send("goes", { isToBeRemoved: true });
      const message = await run.message("goes");
      await remove(network.target(message));
      const left = await run.arrival("the deletion", () => {
        const stored = run.recorder.stored();
        return stored.some(({ id, content }) => id === message.id && content === "goes") ? undefined : stored;
      });
      expect(left.map(({ content }) => content)).toEqual(["stays"]);
    });

    it("accepts an edit before its message", async ({ skip }) => {
      const edit = able(network.actions.edits, skip);
      const run = start();
      await run.connected();
      if (await arrivesAfter(run, network, "first words", {}, (target) => edit(target, "second words"))) {
        expect(run.recorder.stored().map(({ content }) => content)).toEqual(["second words"]);
      }
      expect(run.isSteady()).toBe(true);
    });

    it("accepts a reaction before its message", async ({ skip }) => {
      const react = able(network.actions.reactions, skip);
      const run = start();
      await run.connected();
      let sign = "";
      const isLate = await arrivesAfter(
        run,
        network,
        "well said",
        {},
        async (target) => void (sign = await react(target)),
      );
      const late = run.recorder.stored().find(({ content }) => content === "well said");
      if (isLate) expect(late?.reactions).toMatchObject([{ emoji: sign, count: 1 }]);
      expect(run.isSteady()).toBe(true);
    });

    it("accepts a deletion of an unknown message, also before the message", async ({ skip }) => {
      const remove = able(network.actions.deletions, skip);
      const run = start();
      await run.connected();
      await remove(network.unseenTarget());
      if (await arrivesAfter(run, network, "never shown", { isToBeRemoved: true }, remove)) {
        await network.send("and on");
        await run.message("and on");
        expect(run.recorder.stored().map(({ content }) => content)).toEqual(["and on"]);
      }
      expect(run.isSteady()).toBe(true);
    });

    it("replaying all events changes nothing", async () => {
      const run = start();
      await run.connected();
      const { edits, reactions, deletions } = network.actions;
      for (const text of ["one", "two", "three"]) await network.send(text, { isToBeRemoved: text === "three" });
      const [one, two, three] = [await run.message("one"), await run.message("two"), await run.message("three")];
      if (typeof edits === "function") await edits(network.target(one), "one, corrected");
      if (typeof reactions === "function") await reactions(network.target(two));
      if (typeof deletions === "function") await deletions(network.target(three));
      await network.send("the last");
      await run.message("the last");
      const before = run.recorder.snapshot();
      run.recorder.replay();
      expect(run.recorder.snapshot()).toEqual(before);
    });

    it("shares messages and chats with an export of the account in the same store", async ({ skip }) => {
      const { exported } = network;
      if (exported === undefined) return skip("there are no exports of this network");
      const run = start();
      await run.connected();
      await network.send("one");
      await network.send("two", { isToBeRemoved: true });
      const known = [await run.message("one"), await run.message("two")];
      store.apply(SOURCE, await exported(known, "long ago"));
      await network.send("three");
      await run.stored("three");
      run.recorder.replay();
      store.apply(SOURCE, await exported([...known, await run.message("three")], "long ago"));
      expect(run.recorder.stored().map(({ content }) => content)).toEqual(["long ago", "one", "two", "three"]);
      const names = store.chats({ limit: 100 }).items.map((chat) => chat.name);
      expect(names).toHaveLength(new Set(names).size);
    });

    it("accepts messages with decreasing times", async () => {
      const run = start();
      await run.connected();
      const now = Date.now();
      await network.send("later", { at: now });
      await network.send("earlier", { at: now - 3_600_000 });
      await run.message("later");
      await run.message("earlier");
      expect(contents(run)).toEqual(["later", "earlier"]);
      const known = new Map([...run.recorder.messages.values()].map(({ content, at }) => [content, at]));
      expect(run.recorder.stored().map(({ content, at }) => known.get(content) === at)).toEqual([true, true]);
    });

    it("delivers a bulk of messages once each, in bounded batches", async () => {
      const texts = Array.from({ length: traits.many }, (_, index) => `message ${index}`);
      // Without a store, whose bulk behaviour is tested elsewhere.
      const run = start({ recorder: new Recorder() });
      await run.connected();
      await network.sendAll(texts);
      await run.message(`message ${traits.many - 1}`);
      await run.stop();
      expect(contents(run).length).toBe(traits.many);
      expect(contents(run).findIndex((text, index) => text !== texts[index])).toBe(-1);
      expect(Math.max(...run.recorder.batchSizes)).toBeLessThanOrEqual(1000);
    });

    it("reconnects with backoff, and neither misses nor duplicates recoverable messages", async () => {
      if (network.line === undefined) return cutShort();
      const run = start();
      await run.connected();
      await network.send("before the cut");
      await run.message("before the cut");
      for (const attempt of [1, 2, 3]) {
        await network.line.cut();
        if (traits.keepsWhileAway) await network.send(`while away ${attempt}`);
        await run.connected(attempt + 1);
        await network.send(`back ${attempt}`);
        await run.message(`back ${attempt}`);
        if (traits.keepsWhileAway) await run.message(`while away ${attempt}`);
      }
      await run.stop();
      // random() = 0.5 means no jitter.
      expect(run.pauses.slice(0, 3)).toEqual([1000, 2000, 4000]);
      const lost = run.states.find(({ status }) => status === "disconnected");
      expect(lost).toMatchObject({ message: expect.any(String), howToConnect: expect.stringMatching(/\w/) });
      expect(new Set(contents(run)).size).toBe(contents(run).length);
    });

    /** Stopped in the middle and opened again. */
    const cutShort = async (): Promise<void> => {
      const texts = Array.from({ length: 3000 }, (_, index) => `message ${index}`);
      await network.sendAll(texts);
      const run = start({ endAfter: 1 });
      await run.ended;
      expect(run.statuses()).toEqual(["connecting", "disconnected"]);
      expect(run.recorder.batchSizes).toHaveLength(1);
      expect(contents(run).length).toBeLessThan(texts.length);
      const again = start({ recorder: run.recorder, checkpoint: run.recorder.checkpoint });
      await again.message("message 2999");
      expect(contents(again)).toEqual(texts);
      expect(store.totals(SOURCE).messages).toBe(texts.length);
    };

    it("delivers a batch again that could not be stored", async () => {
      const run = start();
      await run.connected();
      run.recorder.rejectNext("fragile");
      await network.send("fragile");
      await run.look();
      await run.state("error");
      await run.message("fragile");
      await network.send("and more");
      await run.message("and more");
      expect(contents(run)).toEqual(["fragile", "and more"]);
    });

    it.runIf(traits.keepsWhileAway)("loses and doubles nothing when it is killed around a commit", async () => {
      const folder = await mkdtemp(join(tmpdir(), "plugboard-chat-source-"));
      const path = join(folder, "chat.db");
      const isLive = streams();
      const said: string[] = [];
      const speak = async (text: string): Promise<void> => {
        said.push(text);
        await network.send(text);
      };
      const begun = (moment: "before" | "after" | "never"): SourceProcess => {
        const child = new SourceProcess(network.entry(), path, moment);
        children.push(child);
        return child;
      };
      for (const moment of ["after", "before", "before", "after"] as const) {
        const text = `killed ${moment} ${said.length}`;
        if (!isLive) await speak(text);
        const child = begun(moment);
        // Messages left by a killed process arrive at once and kill this one too.
        if (isLive) await Promise.race([child.line("connected"), child.exited]);
        if (isLive) await speak(text);
        expect(await child.exited).toBe("SIGKILL");
      }
      if (!isLive) await speak("the end");
      const last = begun("never");
      await last.line("connected");
      if (isLive) await speak("the end");
      await last.line("message the end");
      if (isLive) last.stop("SIGTERM");
      expect(await last.exited).toBe(0);
      const kept = await openStore(path);
      const { items } = kept.messages({ order: "asc", limit: 100, includeSystem: false });
      await kept.close();
      await rm(folder, { recursive: true });
      expect(items.map(({ content }) => content).toSorted()).toEqual(said.toSorted());
    });

    it("reports missing credentials or files with a fix, and continues when they are restored", async () => {
      await network.send("waiting");
      await network.refuse(true);
      const run = start();
      const state = await run.state(network.refusedAs);
      expect(state).toMatchObject({ message: expect.stringMatching(/\w/), howToConnect: expect.stringMatching(/\w/) });
      await network.refuse(false);
      await run.look();
      await run.connected();
      await run.stop();
      if (streams()) expect(Math.max(...run.pauses)).toBeGreaterThanOrEqual(60_000);
      else expect(contents(run)).toEqual(["waiting"]);
    });

    it("stops at once with nothing left open", async () => {
      if (!streams()) await network.sendAll(Array.from({ length: 3000 }, (_, index) => `message ${index}`));
      const run = start(streams() ? {} : { endAfter: 1 });
      if (streams()) await run.connected();
      else await run.state("disconnected");
      await run.stop();
      await expect.poll(() => network.open()).toBe(0);
      expect(run.states.at(-1)?.status).toBe("disconnected");
    });

    it("stops at once while connecting", async () => {
      const { line } = network;
      await network.send("unread");
      const run = line === undefined ? start() : begin((timing) => line.sourceAt(silent.port, timing));
      if (line !== undefined) await silent.connection();
      await run.stop();
      expect(run.statuses()).toEqual(["connecting", "disconnected"]);
      expect(run.recorder.events).toEqual([]);
    });

    it("stops at once during the backoff", async ({ skip }) => {
      const { line } = network;
      if (line === undefined) return skip("a source without a stream does not reconnect");
      const run = begin((timing) => line.sourceAt(silent.closedPort, timing), { holdPauses: true });
      await run.state("disconnected");
      await run.stop();
      expect(run.pauses).toEqual([1000]);
    });
  });
}

function able<T>(deed: NetworkAction<T>, skip: Skip): Exclude<T, Cannot> {
  if (isCannot(deed)) return skip(deed.cannot);
  return deed as Exclude<T, Cannot>;
}

function isCannot(deed: unknown): deed is Cannot {
  return typeof deed === "object";
}

/**
 * Applies a change before its message is sent. Returns false if the network keeps the order and so never delivers the change;
 * then only later messages must arrive.
 */
async function arrivesAfter(
  run: Run,
  network: Network,
  text: string,
  how: SendOptions,
  happens: (target: string) => Promise<void>,
): Promise<boolean> {
  if (isCannot(network.reserve)) {
    await happens(network.unseenTarget());
    await network.send("still there");
    await run.message("still there");
    return false;
  }
  const message = network.reserve(text, how);
  await happens(message.target);
  await run.look();
  await message.say();
  await run.look();
  await run.event("message", (event) => event.message.content === text);
  return true;
}

/** Messages of people. */
function contents(run: Run): string[] {
  return [...run.recorder.messages.values()].flatMap(({ kind, content }) => (kind === "system" ? [] : [content]));
}

function reactionsTo(run: Run, id: string): object | undefined {
  const reactions = run.recorder.stored().find((message) => message.id === id)?.reactions ?? [];
  return reactions.length === 0 ? undefined : reactions;
}
