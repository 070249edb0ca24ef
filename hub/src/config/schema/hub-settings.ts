// Who may use the hub: `hub.json`. Read once, at the start: a hub whose access changes while it runs is hard to reason about.

import * as z from "zod/mini";

/** Strict: an unknown key is a typing error, and a rule that does not apply is a hole. */
export const hubSettingsEntry = z.strictObject({
  $schema: z.optional(z.string()),
  auth: z.optional(
    z.strictObject({
      /** Whether the MCP endpoints need credentials. */
      mcp: z.optional(z.enum(["open", "required"], { error: 'mcp must be "open" or "required"' })),
    }),
  ),
});

export type HubSettingsEntry = z.infer<typeof hubSettingsEntry>;
