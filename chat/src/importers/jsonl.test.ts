import { afterEach, beforeEach, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { Mutator, randomFrom } from "../../../test/support/mutator.ts";
import { detectImporter } from "./importers.ts";
import { jsonlImporter } from "./jsonl.ts";
import { scaled, testSeed } from "../../../test/support/scale.ts";

let folder: Folder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const line = (id: number) =>
  JSON.stringify({
    type: "message",
    message: { id: String(id), chat: "c", sender: "u", at: id, kind: "text", content: `text ${id}` },
    origin: "live",
  });
const file = (count: number) => Array.from({ length: count }, (_, id) => `${line(id)}\n`).join("");

it("CH-12 event lines are detected, read in bounded batches, and not announced as new", async () => {
  const path = await folder.file("any.jsonl", file(2500));
  expect(await detectImporter(path)).toBe(jsonlImporter);
  const { messages, events, report } = await importFile(jsonlImporter, path);
  expect(report).toMatchObject({ messages: 2500, chats: 1, skipped: 0, problems: [] });
  expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 2500 }, (_, id) => String(id)));
  expect(events.every((event) => event.type !== "message" || event.origin === "import")).toBe(true);
});

it("CH-12 an invalid line is skipped with its number and the reason", async () => {
  const wrong = ['{"type":"message"}', "no json", '{"type":"chat","chat":{"id":""}}', '{"type":"unknown"}'];
  const { report } = await importFile(
    jsonlImporter,
    await folder.file("x.jsonl", [line(1), ...wrong, line(2)].join("\n")),
  );
  expect(report).toMatchObject({ messages: 2, skipped: 4 });
  expect(report.problems[0]).toMatch(/^line 2: message: /);
  expect(report.problems[1]).toBe("line 3: not JSON");
});

it("CH-12 broken event files are read as far as possible", async () => {
  const seed = testSeed(1);
  const mutator = new Mutator([file(20)], randomFrom(seed));
  for (let run = 0; run < scaled(50, 5000); run += 1) {
    const path = await folder.file(`${run}.jsonl`, mutator.next());
    const { report } = await importFile(jsonlImporter, path);
    expect(report.messages + report.skipped, `seed ${seed}, run ${run}`).toBeGreaterThanOrEqual(0);
  }
});
