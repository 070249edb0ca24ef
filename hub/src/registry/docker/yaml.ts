// Parses YAML that strangers wrote. The parser is loaded with the first file.

import { unusable } from "../server-json/fields.ts";

/** Aliases can make a small file huge. */
const ALIASES_MAX = 50;

/** Throws InvalidConfig if the text is not YAML. */
export async function parseYaml(text: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text, { maxAliasCount: ALIASES_MAX, schema: "core", logLevel: "silent", prettyErrors: false });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.split("\n", 1)[0] : "";
    throw unusable(`It is not valid YAML: ${reason}`);
  }
}
