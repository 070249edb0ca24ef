// What holds for every importer, beyond what holds for every source: a file is recognised, the same one gives the same events,
// and broken ones are read as far as they go.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EXPORTS, exported, type Said } from "../../../test/support/chat/exports.ts";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { zipOf } from "../../../test/support/chat/zip.ts";
import { Mutator, randomFrom } from "../../../test/support/mutator.ts";
import { ChatError } from "../errors.ts";
import { discordImporter } from "./discord/importer.ts";
import { IMPORTERS, recognise } from "./importers.ts";
import { signalImporter } from "./signal/importer.ts";
import { slackImporter } from "./slack/importer.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** Some differ by milliseconds alone: in an export without ids, and in seconds, by nothing but their place. */
const said = (count: number): Said[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    at: Date.UTC(2025, 0, 13) + Math.floor(index / 4) * 60_000 + (index % 4),
    text: `text ${index % 2}`,
  }));

/** A valid export of each kind, with so many messages. */
const EXAMPLES = EXPORTS.map(({ importer, files }) => ({ importer, files: (count: number) => files(said(count)) }));

it("an example is there for every importer", () => {
  expect(new Set(EXAMPLES.map(({ importer }) => importer))).toEqual(new Set(IMPORTERS));
});

describe.each(EXAMPLES)("CH-12 $importer.format", ({ importer, files }) => {
  const { name } = exported(files(1));
  const content = (count: number): Buffer => exported(files(count)).content;

  it("is recognised, as a file and in a zip", async () => {
    expect(await recognise(await folder.file(name, content(3)))).toBe(importer);
    // One channel of Discord has the name that the user gave it, which tells nothing in a zip.
    if (importer === discordImporter) return;
    expect(await recognise(await folder.file("x.zip", zipOf({ "a.jpg": "x", ...files(3) })))).toBe(importer);
  });

  it("the same file gives the same events again, and every message an id of its own", async () => {
    const path = await folder.file(name, content(500));
    const [once, again] = [await importFile(importer, path), await importFile(importer, path)];
    expect(again.events).toEqual(once.events);
    expect(once.report).toMatchObject({ messages: 500, skipped: 0, problems: [] });
    expect(new Set(once.messages.map(({ id }) => id)).size).toBe(500);
  });

  it("batches are bounded, and a chat comes before its messages", async () => {
    const { batches, events } = await importFile(importer, await folder.file(name, content(2500)));
    expect(batches.length).toBeGreaterThan(2);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(1000);
    const known = new Set<string>();
    for (const event of events) {
      if (event.type === "chat") known.add(event.chat.id);
      if (event.type === "message") expect(known.has(event.message.chat)).toBe(true);
    }
  });

  it("tells how far it is, up to the end", async () => {
    const told: { bytes: number; totalBytes: number; messages: number }[] = [];
    const path = await folder.file(name, content(20_000));
    await importFile(importer, path, { onProgress: (done) => told.push(done) });
    expect(told.length).toBeGreaterThan(1);
    expect(told.map(({ bytes }) => bytes)).toEqual(
      told.map(({ bytes }) => bytes).toSorted((one, other) => one - other),
    );
    expect(told.at(-1)).toMatchObject({ bytes: told[0]?.totalBytes });
  });

  it("a zip that is damaged in the middle is read up to there", async () => {
    const zip = zipOf(files(2000));
    const whole = await importFile(importer, await folder.file("whole.zip", zip));
    expect(whole.report).toMatchObject({ messages: 2000, skipped: 0 });
    const end = zip.indexOf("PK\u0001\u0002");
    zip.fill(0xff, end - 500, end - 300);
    const { report } = await importFile(importer, await folder.file("x.zip", zip));
    expect(report.messages).toBeGreaterThan(0);
    expect(report.messages).toBeLessThan(2000);
    expect(report.skipped).toBeGreaterThan(0);
  });

  it("a file that is not there is an error with a code", async () => {
    await expect(importFile(importer, join(folder.path, "no such file"))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
    });
  });

  it("an unknown zone is refused, or needs none", async () => {
    const path = await folder.file(name, content(3));
    const found = await importFile(importer, path, { timeZone: "Mars/Base" }).catch((error: unknown) => error);
    if (found instanceof ChatError) expect(found.code).toBe("INVALID_PARAMETER");
    else expect([signalImporter, discordImporter, slackImporter]).toContain(importer);
  });

  /** FUZZ_RUNS says how many. What must not happen: a throw that is no error of ours, or a hang. */
  it("broken files are read as far as they go", async () => {
    const runs = Number(process.env["FUZZ_RUNS"] ?? 300);
    const seed = Number(process.env["FUZZ_SEED"] ?? 20261116);
    const examples = [content(3), content(12), content(1)];
    const mutator = new Mutator([...examples, ...examples, zipOf(files(5))], randomFrom(seed));
    const path = join(folder.path, name);
    let [slowestMs, messages, skipped, refused] = [0, 0, 0, 0];
    for (let run = 0; run < runs; run++) {
      const input = mutator.next();
      await writeFile(path, input);
      const from = performance.now();
      try {
        const { report } = await importFile(importer, path);
        messages += report.messages;
        skipped += report.skipped;
      } catch (error) {
        if (!(error instanceof ChatError)) {
          throw new Error(`seed ${seed}, run ${run}: ${JSON.stringify(input.toString("latin1"))}`, { cause: error });
        }
        refused++;
      }
      slowestMs = Math.max(slowestMs, performance.now() - from);
    }
    process.stderr.write(
      `fuzz ${importer.format}: seed ${seed}, ${runs} files, slowest ${slowestMs.toFixed(0)} ms; ${messages} messages, ${skipped} skipped, ${refused} files refused\n`,
    );
    expect(messages).toBeGreaterThan(runs);
    expect(skipped).toBeGreaterThan(0);
    expect(slowestMs).toBeLessThan(5000);
  });
});

describe("recognise", () => {
  it.each<[string, string, string | Buffer]>([
    ["a picture", "a.jpg", Buffer.from([0xff, 0xd8, 0xff])],
    ["an empty file", "a.txt", ""],
    ["a text", "a.txt", "once upon a time\n"],
    ["other JSON", "result.json", '{"messages": 1}'],
    ["a zip of something else", "a.zip", zipOf({ "a.txt": "x", "b.png": "y" })],
    ["an empty zip", "a.zip", zipOf({})],
  ])("%s is refused, with what was looked at and what to do", async (_, name, content) => {
    await expect(recognise(await folder.file(name, content))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
      message: expect.stringMatching(/its first \d+ bytes|files in it/),
      details: { hint: expect.stringContaining("result.json") },
    });
  });

  it("a broken zip is refused", async () => {
    const zip = zipOf({ "_chat.txt": "x".repeat(1000) });
    await expect(recognise(await folder.file("a.zip", zip.subarray(0, 40)))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
    });
  });
});
