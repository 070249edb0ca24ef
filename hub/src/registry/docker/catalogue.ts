// Docker's catalogue as one file: `registry:` with an entry for each server. A `server.yaml` is a catalogue of one.

import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import type { ServerRecord } from "../model.ts";
import { readCatalogueEntry } from "./record.ts";

const SERVERS_MAX = 10_000;

/** Entries that are no servers are left out. */
export function readCatalogue(document: unknown): ServerRecord[] {
  const entries = isObject(document) ? document["registry"] : undefined;
  if (!isObject(entries)) return [readCatalogueEntry(document)];
  return Object.entries(entries)
    .slice(0, SERVERS_MAX)
    .flatMap(([name, entry]) => {
      try {
        return [readCatalogueEntry(entry, name)];
      } catch (thrown) {
        if (thrown instanceof HubError) return [];
        throw thrown;
      }
    });
}
