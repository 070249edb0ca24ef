// Whether config files are right: all that is wrong with them, and what is only doubtful. Nothing is started or saved.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkTexts } from "../config/check.ts";
import { GROUP_FILE, parseServerDocument, SERVER_FILE, toServers } from "../config/documents.ts";
import { parseJsonText } from "../config/json.ts";
import { isObject } from "../config/plain.ts";
import { readTextFile } from "../config/text-file.ts";
import type { ServerConfig } from "../config/types.ts";
import { Catalog } from "../catalog/catalog.ts";
import { HubError, type ErrorBody } from "../errors.ts";

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

/** The servers of a folder that can be used; none where its file is not right. Unlike loading them, it leaves everything as it is. */
export async function readServers(folder: string): Promise<readonly ServerConfig[]> {
  try {
    const document = parseServerDocument((await readTextFile(join(folder, SERVER_FILE)))?.text ?? "");
    return toServers(document).filter(({ invalid }) => invalid === undefined);
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
  const { errors, warnings, config } = checkTexts(serverText, groupText);
  const servers = config.servers.filter(({ invalid }) => invalid === undefined);
  return {
    valid: errors.length === 0,
    errors,
    warnings: [...warnings, ...Catalog.build(config, new Map()).warnings],
    servers: servers.length,
    groups: config.groups.length,
  };
}
