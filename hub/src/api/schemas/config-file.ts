// The text of a config file, with its comments, for an editor.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const fileParam = z.strictObject({ file: z.enum(["mcp_server", "group"]) });
export type ConfigFileName = z.infer<typeof fileParam>["file"];

export const configFile = component(
  "ConfigFile",
  z.object({
    path: z.string(),
    text: describe(z.string(), "Secrets are masked; `***` in PUT keeps the stored text. Empty if there is no file"),
    etag: describe(z.string(), "For If-Match"),
  }),
);
export type ConfigFile = z.infer<typeof configFile>;

export const replaceQuery = z.strictObject({
  only: describe(z.optional(z.enum(["validate"])), "Report errors, and save nothing"),
});
export const configFileInput = z.strictObject({ text: z.string().check(z.maxLength(1 << 20)) });
