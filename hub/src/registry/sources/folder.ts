// A folder with servers: a mirror (plugboard registry mirror), server.json files, or Docker's catalogue as YAML.

import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { readCatalogue } from "../docker/catalogue.ts";
import { parseYaml } from "../docker/yaml.ts";
import type { ServerRecord } from "../model.ts";
import { readServerJson } from "../server-json/record.ts";

const FILE_MAX_BYTES = 32 * 1024 * 1024;
const TOTAL_MAX_BYTES = 256 * 1024 * 1024;
const FILES_MAX = 20_000;
const DEPTH_MAX = 3;
/** Reading many files must not hold up the hub. */
const BATCH = 200;

/** Documents of the servers in a folder, as they are. Files that cannot be read are left out. */
export async function documentsIn(folder: string): Promise<{ documents: unknown[]; yaml: ServerRecord[] }> {
  const files = await filesIn(folder);
  const documents: unknown[] = [];
  const yaml: ServerRecord[] = [];
  for (const [index, path] of files.entries()) {
    if (index % BATCH === BATCH - 1) await nextTurn();
    const { size } = await stat(path).catch(() => ({ size: Infinity }));
    if (size > FILE_MAX_BYTES) continue;
    const text = await readFile(path, "utf8").catch(() => "");
    try {
      if (!path.endsWith(".json")) yaml.push(...readCatalogue(await parseYaml(text)));
      else documents.push(...serversOf(JSON.parse(text)));
    } catch {
      continue; // a file that is something else
    }
  }
  return { documents, yaml };
}

export async function recordsIn(folder: string): Promise<ServerRecord[]> {
  const { documents, yaml } = await documentsIn(folder);
  const described = await describe(documents);
  return [...yaml, ...described.map(({ record }) => record)].toSorted(newestFirst);
}

/** A server of a folder as its file has it, and what that says. */
export interface DescribedServer {
  readonly document: unknown;
  readonly record: ServerRecord;
}

/** Servers with a server.json; of the versions of one server, the newest first. */
export async function serversIn(folder: string): Promise<DescribedServer[]> {
  const { documents } = await documentsIn(folder);
  const described = await describe(documents);
  return described.toSorted((one, other) => newestFirst(one.record, other.record));
}

/** Another text whenever a file has changed. Throws if there is too much to read. */
export async function fingerprintOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  let total = 0;
  for (const path of await filesIn(folder)) {
    const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: 0 }));
    total += size;
    hash.update(JSON.stringify([path, size, mtimeMs]));
  }
  if (total > TOTAL_MAX_BYTES) {
    throw new HubError("IoError", `The folder ${folder} is larger than ${TOTAL_MAX_BYTES / 1024 / 1024} MiB`);
  }
  return hash.digest("hex");
}

/** What is no server is left out. */
async function describe(documents: readonly unknown[]): Promise<DescribedServer[]> {
  const described: DescribedServer[] = [];
  for (const [index, document] of documents.entries()) {
    if (index % BATCH === BATCH - 1) await nextTurn();
    try {
      described.push({ document, record: readServerJson(document) });
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
    }
  }
  return described;
}

/** A page of a list, or one server. */
function serversOf(json: unknown): readonly unknown[] {
  const listed = isObject(json) ? json["servers"] : undefined;
  return Array.isArray(listed) ? listed : [json];
}

/** By the time of the last change, then by the numbers of the version. */
function newestFirst(one: ServerRecord, other: ServerRecord): number {
  const versions = (other.version ?? "").localeCompare(one.version ?? "", "en", { numeric: true });
  return (other.updatedAt ?? "").localeCompare(one.updatedAt ?? "") || versions;
}

async function filesIn(folder: string, depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (depth > 0) return [];
    throw new HubError("IoError", `The folder ${folder} cannot be read`, { cause: error });
  });
  const files: string[] = [];
  for (const entry of entries.toSorted((one, other) => one.name.localeCompare(other.name))) {
    if (files.length >= FILES_MAX) break;
    const path = join(folder, entry.name);
    if (entry.isFile() && /\.(?:json|ya?ml)$/.test(entry.name)) files.push(path);
    else if (entry.isDirectory() && depth < DEPTH_MAX && !entry.name.startsWith(".")) {
      files.push(...(await filesIn(path, depth + 1)));
    }
  }
  return files.slice(0, FILES_MAX);
}
