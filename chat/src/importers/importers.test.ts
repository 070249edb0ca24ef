// Every importer, beyond the contract of every source: it recognises its files, the same file gives the same events, and broken
// files are read as far as possible.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EXPORTS, exported, type Said } from "../../../test/support/chat/exports.ts";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { zipOf } from "../../../test/support/chat/zip.ts";
import { Mutator, randomFrom } from "../../../test/support/mutator.ts";
import { ChatError } from "../errors.ts";
import { discordImporter } from "./discord/importer.ts";
import { IMPORTERS, detectImporter } from "./importers.ts";
import { signalImporter } from "./signal/importer.ts";
import { slackImporter } from "./slack/importer.ts";
import { scaled, testSeed } from "../../../test/support/scale.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** Some differ only by milliseconds: in an export with seconds and without ids, only by their position. */
const said = (count: number): Said[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    at: Date.UTC(2025, 0, 13) + Math.floor(index / 4) * 60_000 + (index % 4),
    text: `text ${index % 2}`,
  }));

/** A valid export of each kind with a number of messages. */
const EXAMPLES = EXPORTS.map(({ importer, files }) => ({ importer, files: (count: number) => files(said(count)) }));

it("every importer has an example", () => {
  expect(new Set(EXAMPLES.map(({ importer }) => importer))).toEqual(new Set(IMPORTERS));
});

describe.each(EXAMPLES)("CH-12 $importer.format", ({ importer, files }) => {
  const { name } = exported(files(1));
  const content = (count: number): Buffer => exported(files(count)).content;

  it("is detected as a file and in a zip", async () => {
    expect(await detectImporter(await folder.file(name, content(3)))).toBe(importer);
    // A Discord channel export has a name chosen by the user, which identifies nothing in a zip.
    if (importer === discordImporter) return;
    expect(await detectImporter(await folder.file("x.zip", zipOf({ "a.jpg": "x", ...files(3) })))).toBe(importer);
  });

  it("reading a file again gives the same events, and message ids are unique", async () => {
    const path = await folder.file(name, content(500));
    const [once, again] = [await importFile(importer, path), await importFile(importer, path)];
    expect(again.events).toEqual(once.events);
    expect(once.report).toMatchObject({ messages: 500, skipped: 0, problems: [] });
    expect(new Set(once.messages.map(({ id }) => id)).size).toBe(500);
  });

  it("batches are bounded, and a chat precedes its messages", async () => {
    const { batches, events } = await importFile(importer, await folder.file(name, content(2500)));
    expect(batches.length).toBeGreaterThan(2);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(1000);
    const known = new Set<string>();
    for (const event of events) {
      if (event.type === "chat") known.add(event.chat.id);
      if (event.type === "message") expect(known.has(event.message.chat)).toBe(true);
    }
  });

  it("reports progress up to the end", async () => {
    const reports: { bytes: number; totalBytes: number; messages: number }[] = [];
    const path = await folder.file(name, content(20_000));
    await importFile(importer, path, { onProgress: (done) => reports.push(done) });
    expect(reports.length).toBeGreaterThan(1);
    expect(reports.map(({ bytes }) => bytes)).toEqual(
      reports.map(({ bytes }) => bytes).toSorted((one, other) => one - other),
    );
    expect(reports.at(-1)).toMatchObject({ bytes: reports[0]?.totalBytes });
  });

  it("a zip that is damaged in the middle is read up to the damage", async () => {
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

  it("a missing file is an error with a code and its path", async () => {
    await expect(importFile(importer, join(folder.path, "no such file"))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
    });
  });

  it("an unknown time zone is rejected by importers that need one", async () => {
    const path = await folder.file(name, content(3));
    const found = await importFile(importer, path, { timeZone: "Mars/Base" }).catch((error: unknown) => error);
    if (found instanceof ChatError) expect(found.code).toBe("INVALID_PARAMETER");
    else expect([signalImporter, discordImporter, slackImporter]).toContain(importer);
  });

  /** No import may hang or throw anything but a ChatError. */
  it("broken files are read as far as possible", async () => {
    const runs = scaled(300, 10_000);
    const seed = testSeed(20261116);
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

describe("format detection", () => {
  it.each<[string, string, string | Buffer]>([
    ["a picture", "a.jpg", Buffer.from([0xff, 0xd8, 0xff])],
    ["an empty file", "a.txt", ""],
    ["a text", "a.txt", "once upon a time\n"],
    ["other JSON", "result.json", '{"messages": 1}'],
    ["a zip of something else", "a.zip", zipOf({ "a.txt": "x", "b.png": "y" })],
    ["an empty zip", "a.zip", zipOf({})],
  ])("%s is rejected with what was checked and a fix", async (_, name, content) => {
    await expect(detectImporter(await folder.file(name, content))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
      message: expect.stringMatching(/its first \d+ bytes|files in it/),
      details: { hint: expect.stringContaining("result.json") },
    });
  });

  it("a broken zip is rejected", async () => {
    const zip = zipOf({ "_chat.txt": "x".repeat(1000) });
    await expect(detectImporter(await folder.file("a.zip", zip.subarray(0, 40)))).rejects.toMatchObject({
      code: "IMPORT_FAILED",
    });
  });
});
