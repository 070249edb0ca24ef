// A hub for each test that changes the config. After the test no process may be left, and no answer may contain its secret.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { formsOf, openManaged, type ManagedHub } from "../support/api.ts";
import type { Servers } from "../support/hub.ts";
import { configText } from "./planted-hub.ts";

export const OWN_SECRET = "own-secret-31337";

export interface OwnHub extends ManagedHub {
  /** The text of mcp_server.json. */
  readonly file: () => Promise<string>;
  /** The servers in it. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into entries of any form
  readonly entries: () => Promise<any>;
}

/** @returns opens the hub of a test; `edit` changes the text of its config file first */
export function useOwnHub(): (servers: Servers, edit?: (text: string) => string) => Promise<OwnHub> {
  let own: ManagedHub | undefined;

  afterEach(async () => {
    const output = own?.seen.join("\n");
    expect(await own?.end()).toEqual([]);
    for (const form of formsOf(OWN_SECRET)) expect(output).not.toContain(form);
  });

  return async (servers, edit) => {
    const opened = await openManaged(servers);
    own = opened;
    const file = () => configText(opened);
    if (edit !== undefined) {
      const path = join(opened.paths.config, "mcp_server.json");
      await writeFile(path, edit(await readFile(path, "utf8")));
      await opened.hub.configuration.reload();
    }
    return {
      ...opened,
      file,
      entries: async () => JSON.parse(await file()).mcpServers,
    };
  };
}
