// Any text that describes servers, such as a command line, an address or a snippet of a README, as server entries.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { json } from "./json.ts";

export const parseInput = z.strictObject({ text: z.string().check(z.minLength(1), z.maxLength(256 * 1024)) });

const variable = z.object({
  name: z.string(),
  required: z.boolean(),
  secret: describe(z.boolean(), "Its name or its value is that of a credential"),
  description: z.optional(z.string()),
  value: describe(z.optional(z.string()), "The value in the text; absent if there is none, or only a placeholder"),
});
export type ParsedVariable = z.infer<typeof variable>;

const entry = z.object({
  name: describe(z.string(), "A name that no server of the hub has"),
  entry: describe(json, "For POST /servers"),
  kind: z.enum(["npx", "uvx", "docker", "binary", "http", "sse", "websocket"]),
  understood: describe(z.string(), "What the server is, as a sentence"),
  variables: z.array(variable),
  groups: z.optional(z.array(z.string())),
  warnings: z.array(z.string()),
  same_as: describe(z.nullable(z.string()), "Name of a server of the hub that is the same"),
});
export type ParsedEntry = z.infer<typeof entry>;

export const parsed = component(
  "ParsedServers",
  z.object({
    entries: z.array(entry),
    format: describe(
      z.enum(["command", "address", "package", "json", "toml", "yaml", "link", "client command"]),
      "How the text was read",
    ),
  }),
);
export type ParsedServers = z.infer<typeof parsed>;
