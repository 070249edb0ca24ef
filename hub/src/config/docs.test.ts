// The examples of docs/config.md are configs that load.

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parseServerDocument, toServers } from "./documents.ts";
import { normalizeServer } from "./normalize.ts";

it("CF-1 CF-2 every example of the user page loads", async () => {
  const page = await readFile(new URL("../../../docs/config.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/```jsonc\n([^]*?)```/g)].map(([, text = ""]) =>
    toServers(parseServerDocument(text)),
  );
  expect(examples.map((servers) => servers.length)).toEqual([6, 2]);
  const [, variables = ""] = /```json\n([^]*?)```/.exec(page) ?? [];
  const parsed: unknown = JSON.parse(variables);
  expect(normalizeServer("x", { command: "c", ...Object(parsed) }).env).toMatchObject({
    API_KEY: { secretRef: "my-key" },
  });
});
