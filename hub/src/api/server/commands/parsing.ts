// Text that a person pasted, as entries that can be tested and added.

import { fingerprintOf } from "../../../client-configs/fingerprint.ts";
import { fingerprintsOf, toFingerprintInput, toLegalName } from "../../../client-configs/import/plan.ts";
import { numbered } from "../../../client-configs/import/translate.ts";
import { parseServers } from "../../../entry-input/parse-text.ts";
import { understand, type UnderstoodServer } from "../../../entry-input/understand.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";
import type { ParsedEntry, ParsedServers } from "../../schemas/parse.ts";
import type { Managed } from "../core.ts";

export class ParseCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  async parse(text: string): Promise<ParsedServers> {
    const { user, hub } = this.#managed;
    const { format, servers } = await parseServers(text, { path: user.env["PATH"], home: user.home });
    const { servers: known } = hub.configuration.current;
    const taken = new Set(known.flatMap(({ name, id }) => [name, id]));
    const fingerprints = new Map(
      known.flatMap((server) =>
        fingerprintsOf(toFingerprintInput(server, variablesOf(server))).map((print) => [print, server.name] as const),
      ),
    );
    const entries = servers.map((described): ParsedEntry => {
      const name = numbered(toLegalName(described.name), (each) => taken.has(each));
      taken.add(name);
      return toEntry(understand(described, name, user), fingerprints);
    });
    return { format, entries };
  }
}

function toEntry({ config, ...server }: UnderstoodServer, known: ReadonlyMap<string, string>): ParsedEntry {
  const { name, entry, understood, variables, warnings } = server;
  const { transport, groups } = config;
  return {
    name,
    entry,
    kind: transport.type === "stdio" ? transport.launcher : transport.type,
    understood,
    variables: [...variables],
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    warnings: [...warnings],
    same_as: known.get(fingerprintOf(toFingerprintInput(config, variablesOf(config)))) ?? null,
  };
}

/** Only their names count. */
function variablesOf({ env }: ServerConfig): { env: Record<string, string> } {
  return { env: Object.fromEntries(Object.keys(env).map((name) => [name, ""])) };
}
