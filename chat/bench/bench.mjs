// Measures the built store on a generated history: how fast it is imported, searched, and added to.
// Usage: node chat/bench/bench.mjs [messages, 1000000 if absent]

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../dist/store/store.js";
import { History } from "./history.mjs";
import { createRandom, pick } from "./random.mjs";

const MESSAGES = Number(process.argv[2] ?? 1_000_000);
const BATCH = 1000;
const RUNS = 300;
const LIVE_COMMITS = 5000;

const folder = mkdtempSync(join(tmpdir(), "plugboard-chat-bench-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "chat.db");
const store = await openStore(path);
const history = new History(MESSAGES);
const random = createRandom(99);

const imported = importAll();
const mostly = store.chats({ limit: 2000 }).items;
const bySize = mostly.toSorted((a, b) => b.messageCount - a.messageCount);
const small = bySize.slice(-300);
const large = bySize.slice(0, 20);
report("peak memory after import", `${peakMb()} MB`);
report("database", `${sizeMb()} MB for ${imported} messages`);
searches("search");
liveCommits();
searches(`search after ${LIVE_COMMITS} small commits`);
report("peak memory", `${peakMb()} MB`);
report("database", `${sizeMb()} MB`);
await store.close();

function importAll() {
  let messages = 0;
  let wallMs = 0;
  let cpuMs = 0;
  for (const { source, events } of history.batches(BATCH)) {
    const start = performance.now();
    const cpu = process.cpuUsage();
    messages += store.apply(source, events).messagesAdded;
    wallMs += performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    cpuMs += (user + system) / 1000;
  }
  const perSecond = (ms) => Math.round((messages / ms) * 1000);
  report("import with index", `${messages} messages, ${perSecond(wallMs)}/s (${perSecond(cpuMs)}/s of processor time)`);
  return messages;
}

function searches(title) {
  say(`\n${title} (newest 20, ms)`);
  time("rare word", () => query({ search: history.rareWord(Math.floor(random() * history.rareWords)) }));
  time("common word", () => query({ search: history.word(0, rank(0, 20)) }));
  time("common Cyrillic word", () => query({ search: history.word(1, rank(0, 20)) }));
  time("two words", () => query({ search: `${word()} ${word()}` }));
  time("two common words", () => query({ search: `${history.word(0, rank(0, 20))} ${history.word(0, rank(0, 20))}` }));
  time("2-character Han", () => query({ search: han2() }));
  time("word that is nowhere", () => query({ search: "qqqqqqqqqq" }));
  time("prefix", () => query({ search: word().slice(0, 4), mode: "prefix" }));
  time("word in a small chat", () => query({ search: word(), chats: [pick(random, small).key] }));
  time("common word in a small chat", () =>
    query({ search: history.word(0, rank(0, 20)), chats: [pick(random, small).key] }),
  );
  time("word in a large chat", () => query({ search: word(), chats: [pick(random, large).key] }));
  time("word in one source", () => query({ search: word(), sources: ["signal"] }));
  time("word by a sender", () => query({ search: word(), sender: `telegram${rank(0, 200)}` }));
  time("by a sender", () => query({ sender: `telegram${rank(0, 200)}` }));
  time("latest of a source", () => query({ sources: [pick(random, ["telegram", "signal", "whatsapp"])] }));
  time("common word in a week", () => query({ search: history.word(0, rank(0, 20)), ...week() }));
  time("word in a week", () => query({ search: word(), ...week() }));
  time("a week", () => query(week()));
  time("latest 50 of a chat", () => query({ chats: [pick(random, mostly).key], limit: 50 }));
  time("latest 50 of 30 chats", () =>
    query({ chats: Array.from({ length: 30 }, () => pick(random, mostly).key), limit: 50 }),
  );
  time("page at offset 1000 of a chat", () => query({ chats: [pick(random, large).key], offset: 1000 }));
  time("part of a word in a small chat", () =>
    query({ search: word().slice(1, 4), mode: "substring", chats: [pick(random, small).key] }),
  );
  time("list of 50 chats", () => store.chats({ limit: 50 }));
}

function query(filter) {
  return store.messages({ order: "desc", limit: 20, includeSystem: false, ...filter });
}

function word() {
  return history.word(0, rank(20, 400));
}

function rank(from, to) {
  return from + Math.floor(random() * (to - from));
}

function han2() {
  const text = `${history.word(2, rank(0, 300))}${history.word(2, rank(0, 300))}`;
  return Array.from(text).slice(0, 2).join("");
}

function week() {
  const since = Date.UTC(2021, 0, 1) + Math.floor(random() * 5 * 365) * 86_400_000;
  return { since, before: since + 7 * 86_400_000 };
}

function liveCommits() {
  const times = [];
  for (let index = 0; index < LIVE_COMMITS; index++) {
    const message = { id: `live-${index}`, chat: `telegram-${index % 400}`, sender: `telegram-u${index % 300}` };
    const content = history.text(random);
    const at = Date.UTC(2026, 0, 1) + index * 1000;
    const event = { type: "message", origin: "live", message: { ...message, at, kind: "text", content } };
    const start = performance.now();
    store.apply("telegram", [event]);
    times.push(performance.now() - start);
  }
  say(`\n${LIVE_COMMITS} commits of one message (ms)`);
  print("commit", times, LIVE_COMMITS);
}

function time(name, run) {
  const times = [];
  let hits = 0;
  for (let index = 0; index < RUNS; index++) {
    const start = performance.now();
    hits += run().items.length;
    times.push(performance.now() - start);
  }
  print(name, times, hits);
}

function print(name, times, hits) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(2).padStart(8);
  say(`${name.padEnd(32)} p50 ${at(0.5)}  p95 ${at(0.95)}  max ${at(1)}  (${hits} found)`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

function report(name, value) {
  say(`${name.padEnd(32)} ${value}`);
}

function peakMb() {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}

function sizeMb() {
  return Math.round(statSync(path).size / 1e6);
}
