import { afterEach, beforeEach, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { Mutator, randomFrom } from "../../../test/support/mutator.ts";
import { recognise } from "./importers.ts";
import { jsonlImporter } from "./jsonl.ts";

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

it("CH-12 lines of our own events are recognised, read in bounded batches, and are no news", async () => {
  const path = await folder.file("any.jsonl", file(2500));
  expect(await recognise(path)).toBe(jsonlImporter);
  const { messages, events, report } = await importFile(jsonlImporter, path);
  expect(report).toMatchObject({ messages: 2500, chats: 1, skipped: 0, problems: [] });
  expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 2500 }, (_, id) => String(id)));
  expect(events.every((event) => event.type !== "message" || event.origin === "import")).toBe(true);
});

it("CH-12 what is no event is skipped, with its line and the reason", async () => {
  const wrong = ['{"type":"message"}', "no json", '{"type":"chat","chat":{"id":""}}', '{"type":"unknown"}'];
  const { report } = await importFile(
    jsonlImporter,
    await folder.file("x.jsonl", [line(1), ...wrong, line(2)].join("\n")),
  );
  expect(report).toMatchObject({ messages: 2, skipped: 4 });
  expect(report.problems[0]).toMatch(/^line 2: message: /);
  expect(report.problems[1]).toBe("line 3: no JSON");
});

it("CH-12 broken files of events are read as far as they go", async () => {
  const seed = Number(process.env["FUZZ_SEED"] ?? 1);
  const mutator = new Mutator([file(20)], randomFrom(seed));
  for (let run = 0; run < Number(process.env["FUZZ"] ?? 50); run += 1) {
    const path = await folder.file(`${run}.jsonl`, mutator.next());
    const { report } = await importFile(jsonlImporter, path);
    expect(report.messages + report.skipped, `seed ${seed}, run ${run}`).toBeGreaterThanOrEqual(0);
  }
});
