// Whether config files are right: all that is wrong with them, and what is only doubtful. Nothing is started or saved.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  findWarnings,
  GROUP_FILE,
  parseGroupDocument,
  parseServerDocument,
  SERVER_FILE,
  toServers,
} from "../config/documents.ts";
import { parseJsonText } from "../config/json.ts";
import { normalizeServer } from "../config/normalize.ts";
import { isObject } from "../config/plain.ts";
import { readTextFile } from "../config/text-file.ts";
import type { ServerConfig } from "../config/types.ts";
import { quoted, within } from "../config/where.ts";
import { Catalog } from "../catalog/catalog.ts";
import { HubError, toHubError, type ErrorBody } from "../errors.ts";

export interface Check {
  readonly valid: boolean;
  readonly errors: readonly ErrorBody[];
  readonly warnings: readonly string[];
  readonly servers: number;
  readonly groups: number;
}

/** The two files of a folder, or one file that holds servers, groups or both. */
export async function checkFiles(folder: string, file: string | undefined): Promise<Check> {
  if (file !== undefined) {
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      throw new HubError("InvalidConfig", `Cannot read ${file}`, {
        field: "file",
        detail: String(error),
        cause: error,
      });
    });
    return check(...(await split(text, file)));
  }
  const [servers, groups] = await Promise.all(
    [SERVER_FILE, GROUP_FILE].map(async (name) => (await readTextFile(join(folder, name)))?.text ?? ""),
  );
  return check(servers ?? "", groups ?? "");
}

/** The servers of a folder; none where its file is not right. Unlike loading them, it leaves everything as it is. */
export async function readServers(folder: string): Promise<readonly ServerConfig[]> {
  try {
    return toServers(parseServerDocument((await readTextFile(join(folder, SERVER_FILE)))?.text ?? ""));
  } catch {
    return []; // checkFiles says what is wrong
  }
}

/** A file on its own may be either of the two, or both in one. */
async function split(text: string, file: string): Promise<[servers: string, groups: string]> {
  const json = parseJsonText(text, file);
  const isServers = isObject(json) && ["mcpServers", "servers"].some((key) => isObject(json[key]));
  if (!isObject(json)) return [text, ""];
  if (isServers) return [text, isObject(json["groups"]) ? JSON.stringify({ groups: json["groups"] }) : ""];
  return ["", text];
}

export function check(serverText: string, groupText: string): Check {
  const errors: ErrorBody[] = [];
  const attempt = <T>(run: () => T): T | undefined => {
    try {
      return run();
    } catch (thrown) {
      errors.push(toHubError(thrown).toJSON());
      return undefined;
    }
  };
  const document = attempt(() => parseServerDocument(serverText));
  const single = Object.entries(document?.entries ?? {}).map(([key, entry]) =>
    attempt(() => within(`Server ${quoted(key)}`, `${document?.root}.${key}`, () => normalizeServer(key, entry))),
  );
  // Only where each of them is right does it matter whether they are right together.
  const together = errors.length === 0 && document !== undefined ? attempt(() => toServers(document)) : undefined;
  const groups = attempt(() => parseGroupDocument(groupText));
  const servers: readonly ServerConfig[] = together ?? single.filter((server) => server !== undefined);
  const catalog = groups === undefined ? undefined : Catalog.build({ servers, groups }, new Map());
  return {
    valid: errors.length === 0,
    errors,
    warnings: [...(document?.warnings ?? []), ...findWarnings(servers), ...(catalog?.warnings ?? [])],
    servers: servers.length,
    groups: groups?.length ?? 0,
  };
}
