// What every source must do, as one suite: networks and files. A source's test gives it the network, real or double, or the
// export, as somebody else makes them. What hangs on a capability asks the source itself, and nothing asks for its name.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ChatStore } from "../../../chat/src/query.ts";
import { CHANGES, type Change, type ChatSource, type NativeMessage } from "../../../chat/src/source.ts";
import { REAL_TIMING, type Timing } from "../../../chat/src/sources/timing.ts";
import { openStore } from "../../../chat/src/store/store.ts";
import { Recorder, SOURCE } from "./recorder.ts";
import { SilentServer } from "./silent-server.ts";
import { SourceProcess, type Entry } from "./source-process.ts";
import { Run, type RunOptions } from "./source-run.ts";

/** How people do it, or why nobody can. */
export type Deed<T> = T | Cannot;

interface Cannot {
  readonly cannot: string;
}

/** The target is as `target` gives it, or one that nobody has ever seen. */
export interface Deeds extends Record<Change, unknown> {
  readonly edits: Deed<(target: string, text: string) => Promise<void>>;
  /** Gives the sign, as the source spells it. */
  readonly reactions: Deed<(target: string) => Promise<string>>;
  readonly deletions: Deed<(target: string) => Promise<void>>;
}

export interface Manner {
  /** Only where the network lets the sender say when; it may ignore it. */
  readonly at?: number;
  /** In a chat where the network tells of deletions. */
  readonly isToBeRemoved?: boolean;
}

/** A message that can be referred to before it is said. */
export interface Announced {
  readonly target: string;
  say(): Promise<void>;
}

/** What only a source has that stays connected. */
export interface Line {
  /** The same source, sent to a server that takes connections and never says a word. */
  sourceAt(port: number, timing: Timing): ChatSource;
  /** Every connection ends, at once and without a word. */
  cut(): Promise<void>;
}

/** One network or export, one account that the source uses, and one other person who writes to it. */
export interface Network {
  createSource(timing: Timing): ChatSource;
  /** The same source as chat.json has it. */
  entry(): Entry;
  readonly line?: Line;
  readonly deeds: Deeds;
  say(text: string, how?: Manner): Promise<void>;
  sayAll(texts: readonly string[]): Promise<void>;
  readonly announce: Deed<(text: string, how?: Manner) => Announced>;
  /** How the network's users refer to a message that has arrived. */
  target(message: NativeMessage): string;
  /** Of a message that nobody has seen. */
  unseenTarget(): string;
  /** What the source needs to begin is not there, or not good, until it is again: credentials, the file. */
  refuse(refused: boolean): Promise<void>;
  readonly refusedAs: "needs_auth" | "error";
  /** How many connections or files the source holds. */
  open(): number | Promise<number>;
  close(): Promise<void>;
}

export interface ContractTraits {
  /** Whether what was not acknowledged can be had again by a source that was away. */
  readonly keepsWhileAway: boolean;
  /** How many messages are a lot: the specification says 100,000, a real server's patience may be less. */
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

    it("says of itself what its network can do, no more and no less", () => {
      const { tells, stream } = network.createSource(REAL_TIMING).capabilities;
      expect(CHANGES.filter((change) => typeof network.deeds[change] === "function")).toEqual([...tells]);
      expect(network.line !== undefined).toBe(stream);
    });

    it("tells that it connects and is connected, and hands over what comes", async () => {
      const run = start();
      await run.connected();
      await network.say("hello");
      const message = await run.message("hello");
      expect(message.kind).toBe("text");
      expect(message.sender).toBeTypeOf("string");
      expect(run.chats.get(message.chat)).toBeDefined();
      expect(run.people.get(message.sender ?? "")).toBeDefined();
      expect(run.isSteady()).toBe(true);
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
      expect(contents(again)).toEqual(["once", "twice", "third"]);
      expect(again.recorder.stored().map(({ content }) => content)).toEqual(["once", "twice", "third"]);
    });

    it("goes on from its checkpoint", async () => {
      const run = start();
      await run.connected();
      await network.say("before");
      await run.message("before");
      await run.stop();
      const again = start({ checkpoint: run.recorder.checkpoint });
      await again.connected();
      if (traits.keepsWhileAway) expect(contents(again)).toEqual([]);
      await network.say("after");
      await again.message("after");
      if (traits.keepsWhileAway && streams()) expect(contents(again)).toEqual(["after"]);
      else expect(contents(again)).toContain("after");
      expect(again.recorder.stored().map(({ content }) => content)).toEqual(["before", "after"]);
    });

    it("passes on an edit, of the message that it is of", async ({ skip }) => {
      const edit = able(network.deeds.edits, skip);
      const run = start();
      await run.connected();
      await network.say("first words");
      const message = await run.message("first words");
      await edit(network.target(message), "second words");
      const stored = await run.stored("second words");
      expect({ chat: stored.chat.id, id: stored.id }).toEqual({ chat: message.chat, id: message.id });
      expect(run.recorder.stored()).toHaveLength(1);
    });

    it("passes on a reaction, on the message that it is on", async ({ skip }) => {
      const react = able(network.deeds.reactions, skip);
      const run = start();
      await run.connected();
      await network.say("well said");
      const message = await run.message("well said");
      const sign = await react(network.target(message));
      const reactions = await run.arrival("the reaction", () => reactionsTo(run, message.id));
      expect(reactions).toEqual([{ emoji: sign, count: 1, by: [expect.any(String)] }]);
    });

    it("passes on a deletion, of the message that it is of", async ({ skip }) => {
      const remove = able(network.deeds.deletions, skip);
      const run = start();
      await run.connected();
      await network.say("stays");
      await network.say("goes", { isToBeRemoved: true });
      const message = await run.message("goes");
      await remove(network.target(message));
      const left = await run.arrival("the deletion", () => {
        const stored = run.recorder.stored();
        return stored.some(({ id, content }) => id === message.id && content === "goes") ? undefined : stored;
      });
      expect(left.map(({ content }) => content)).toEqual(["stays"]);
    });

    it("takes an edit before the message", async ({ skip }) => {
      const edit = able(network.deeds.edits, skip);
      const run = start();
      await run.connected();
      if (await comesLate(run, network, "first words", {}, (target) => edit(target, "second words"))) {
        expect(run.recorder.stored().map(({ content }) => content)).toEqual(["second words"]);
      }
      expect(run.isSteady()).toBe(true);
    });

    it("takes a reaction before the message", async ({ skip }) => {
      const react = able(network.deeds.reactions, skip);
      const run = start();
      await run.connected();
      let sign = "";
      const isLate = await comesLate(
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

    it("takes a deletion of what it never saw, also before the message", async ({ skip }) => {
      const remove = able(network.deeds.deletions, skip);
      const run = start();
      await run.connected();
      await remove(network.unseenTarget());
      if (await comesLate(run, network, "never shown", { isToBeRemoved: true }, remove)) {
        await network.say("and on");
        await run.message("and on");
        expect(run.recorder.stored().map(({ content }) => content)).toEqual(["and on"]);
      }
      expect(run.isSteady()).toBe(true);
    });

    it("changes nothing when all that it told is told again", async () => {
      const run = start();
      await run.connected();
      const { edits, reactions, deletions } = network.deeds;
      for (const text of ["one", "two", "three"]) await network.say(text, { isToBeRemoved: text === "three" });
      const [one, two, three] = [await run.message("one"), await run.message("two"), await run.message("three")];
      if (typeof edits === "function") await edits(network.target(one), "one, corrected");
      if (typeof reactions === "function") await reactions(network.target(two));
      if (typeof deletions === "function") await deletions(network.target(three));
      await network.say("the last");
      await run.message("the last");
      const before = run.recorder.snapshot();
      run.recorder.replay();
      expect(run.recorder.snapshot()).toEqual(before);
    });

    it("takes messages whose clock goes backwards", async () => {
      const run = start();
      await run.connected();
      const now = Date.now();
      await network.say("later", { at: now });
      await network.say("earlier", { at: now - 3_600_000 });
      await run.message("later");
      await run.message("earlier");
      expect(contents(run)).toEqual(["later", "earlier"]);
      const told = new Map([...run.recorder.messages.values()].map(({ content, at }) => [content, at]));
      expect(run.recorder.stored().map(({ content, at }) => told.get(content) === at)).toEqual([true, true]);
    });

    it("takes many at once, each once, in bounded batches", async () => {
      const texts = Array.from({ length: traits.many }, (_, index) => `message ${index}`);
      // What the store does with so many is its own affair.
      const run = start({ recorder: new Recorder() });
      await run.connected();
      await network.sayAll(texts);
      await run.message(`message ${traits.many - 1}`);
      await run.stop();
      expect(contents(run).length).toBe(traits.many);
      expect(contents(run).findIndex((text, index) => text !== texts[index])).toBe(-1);
      expect(Math.max(...run.recorder.batchSizes)).toBeLessThanOrEqual(1000);
    });

    it("comes back after a cut, later each time, and misses and doubles nothing that can be had again", async () => {
      if (network.line === undefined) return cutShort();
      const run = start();
      await run.connected();
      await network.say("before the cut");
      await run.message("before the cut");
      for (const attempt of [1, 2, 3]) {
        await network.line.cut();
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

    /** Told to end in the middle, and opened again from there. */
    const cutShort = async (): Promise<void> => {
      const texts = Array.from({ length: 3000 }, (_, index) => `message ${index}`);
      await network.sayAll(texts);
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

    it("hands over again what could not be stored", async () => {
      const run = start();
      await run.connected();
      run.recorder.rejectNext("fragile");
      await network.say("fragile");
      await run.look();
      await run.state("error");
      await run.message("fragile");
      await network.say("and more");
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
        await network.say(text);
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
        // What a killed one left is there at once, and kills this one too.
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

    it("says what it lacks and what to do, and goes on when it has it", async () => {
      await network.say("waiting");
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

    it("ends at once, with nothing left open, when told to", async () => {
      if (!streams()) await network.sayAll(Array.from({ length: 3000 }, (_, index) => `message ${index}`));
      const run = start(streams() ? {} : { endAfter: 1 });
      if (streams()) await run.connected();
      else await run.state("disconnected");
      await run.stop();
      await expect.poll(() => network.open(), { timeout: 30_000 }).toBe(0);
      expect(run.states.at(-1)?.status).toBe("disconnected");
    });

    it("ends at once while it connects", async () => {
      const { line } = network;
      await network.say("unread");
      const run = line === undefined ? start() : begin((timing) => line.sourceAt(silent.port, timing));
      if (line !== undefined) await silent.connection();
      await run.stop();
      expect(run.statuses()).toEqual(["connecting", "disconnected"]);
      expect(run.recorder.events).toEqual([]);
    });

    it("ends at once while it waits to try again", async ({ skip }) => {
      const { line } = network;
      if (line === undefined) return skip("what does not stream is opened again by somebody else");
      const run = begin((timing) => line.sourceAt(silent.closedPort, timing), { holdPauses: true });
      await run.state("disconnected");
      await run.stop();
      expect(run.pauses).toEqual([1000]);
    });
  });
}

function able<T>(deed: Deed<T>, skip: Skip): Exclude<T, Cannot> {
  if (isCannot(deed)) return skip(deed.cannot);
  return deed as Exclude<T, Cannot>;
}

function isCannot(deed: unknown): deed is Cannot {
  return typeof deed === "object";
}

/**
 * Something happens to a message before it comes. Where the network keeps the order it never comes, and only what is said
 * afterwards must; then this is false.
 */
async function comesLate(
  run: Run,
  network: Network,
  text: string,
  how: Manner,
  happens: (target: string) => Promise<void>,
): Promise<boolean> {
  if (isCannot(network.announce)) {
    await happens(network.unseenTarget());
    await network.say("still there");
    await run.message("still there");
    return false;
  }
  const message = network.announce(text, how);
  await happens(message.target);
  await run.look();
  await message.say();
  await run.look();
  await run.event("message", (event) => event.message.content === text);
  return true;
}

/** What people said. */
function contents(run: Run): string[] {
  return [...run.recorder.messages.values()].flatMap(({ kind, content }) => (kind === "system" ? [] : [content]));
}

function reactionsTo(run: Run, id: string): object | undefined {
  const reactions = run.recorder.stored().find((message) => message.id === id)?.reactions ?? [];
  return reactions.length === 0 ? undefined : reactions;
}
