// The servers of other clients: which of them could be imported, and the import. The files of the clients stay as they are.

import { isAbsolute } from "node:path";
import { clientsNamed, IMPORTABLE } from "../../../client-configs/client-table.ts";
import { carryOut, planFor, type ImportTarget } from "../../../client-configs/import/importing.ts";
import { toLegalName, type Plan, type PlannedServer } from "../../../client-configs/import/plan.ts";
import { scan, type FoundServer, type ScannedFile } from "../../../client-configs/import/scan.ts";
import type { EditOptions } from "../../../config/files/config-store.ts";
import { normalizeServer } from "../../../config/parse/normalize.ts";
import type { Transport } from "../../../config/schema/types.ts";
import { HubError } from "../../../errors.ts";
import { hideAll, maskArgs, maskUrl } from "../../../redaction/mask.ts";
import { isObject } from "../../../lib/json/json.ts";
import type { ImportCandidate, ImportInput, ImportPlan, ImportResult } from "../../schemas/client.ts";
import type { Managed } from "../core.ts";
import { toEntry } from "../entry/entry.ts";
import type { ConfigCommands } from "./config.ts";
import type { GroupCommands } from "./groups.ts";
import { OWNER } from "../../../auth/grant.ts";
import { ServerApprovalCommands } from "./server-approvals.ts";
import { OWNER_RIGHTS } from "./on-behalf.ts";
import type { LoginCommands } from "./logins.ts";
import type { SecretCommands } from "./secrets.ts";
import type { ServerCommands } from "./servers.ts";

interface Commands {
  readonly config: ConfigCommands;
  readonly servers: ServerCommands;
  readonly groups: GroupCommands;
  readonly secrets: SecretCommands;
  readonly logins: LoginCommands;
}

export class ImportCommands {
  readonly #managed: Managed;
  readonly #approvals: ServerApprovalCommands;
  readonly #target: ImportTarget;
  readonly #editing: (edit: Pick<EditOptions, "requestId">) => ImportTarget;

  constructor(managed: Managed, { config, servers, groups, secrets, logins }: Commands) {
    this.#managed = managed;
    this.#approvals = new ServerApprovalCommands(managed);
    this.#target = {
      config: { get: async () => config.show() },
      servers: { list: () => servers.list({ view: "summary" }), create: (entry) => servers.create(entry) },
      groups: { set: (name, entry) => groups.set(name, entry) },
      secrets: {
        list: () => secrets.list(),
        set: (name, value, options) => secrets.set(name, value, options),
        delete: (name) => secrets.delete(name),
      },
      serverApprovals: { approve: (id) => this.#approvals.approve(id, {}, OWNER) },
      logins: { import: (id, tokens) => logins.takeOver(id, OWNER_RIGHTS, tokens) },
    };
    this.#editing = (edit) => ({
      ...this.#target,
      servers: { ...this.#target.servers, create: (entry) => servers.create(entry, edit) },
      groups: { set: (name, entry) => groups.set(name, entry, edit) },
    });
  }

  planOf(files: readonly ScannedFile[], address: string): Promise<Plan> {
    return planFor(this.#managed.user, this.#target, files, { keepSecrets: false, address });
  }

  async plan({ folder, address }: { folder?: string | undefined; address: string }): Promise<ImportPlan> {
    const files = await this.#scan(folder);
    const plan = await this.planOf(files, address);
    return {
      servers: [
        ...plan.add.map(toNew),
        ...plan.known.map(({ from, name }) => ({ ...toShown(from), as: name, state: "same" as const })),
        ...plan.refused.map(({ from, error }) => ({
          ...toShown(from),
          state: "invalid" as const,
          reason: error.message,
        })),
      ],
      broken: files.flatMap(({ file, error }) =>
        error === undefined ? [] : [{ client: file.client.id, path: file.path, error: error.toJSON() }],
      ),
      notes: [...plan.notes],
    };
  }

  async run(
    { servers, folder, approve = false }: ImportInput,
    address: string,
    edit: Pick<EditOptions, "requestId"> = {},
  ): Promise<ImportResult> {
    clientsNamed(
      servers.map(({ client }) => client),
      IMPORTABLE,
    );
    const files = await this.#scan(folder);
    const taken = new Set((await this.#target.servers.list()).map(({ config }) => config.name));
    const skipped: ImportResult["skipped"] = [];
    const chosen = new Map<FoundServer, FoundServer>();
    for (const { client, name, path, as } of servers) {
      const found = files
        .flatMap((file) => file.servers)
        .find(
          (each) => each.file.client.id === client && each.name === name && [undefined, each.file.path].includes(path),
        );
      if (found === undefined) skipped.push({ client, name, reason: "It is not in the file of the client" });
      else if (as !== undefined && taken.has(as)) {
        skipped.push({ client, name, reason: `A server named "${as}" already exists` });
      } else chosen.set(found, as === undefined ? found : { ...found, name: as });
    }
    const selected = files.map((file) => ({
      ...file,
      servers: file.servers.flatMap((server) => chosen.get(server) ?? []),
    }));
    const plan = await this.planOf(selected, address);
    const { added, refused, groups } = await carryOut(this.#editing(edit), plan, { approves: approve });
    const nameOf = (from: FoundServer) => [...chosen].find(([, renamed]) => renamed === from)?.[0].name ?? from.name;
    const skip = (from: FoundServer, reason: string) =>
      skipped.push({ client: from.file.client.id, name: nameOf(from), reason });
    for (const { from, name } of plan.known) skip(from, `The hub has it as ${name}`);
    for (const from of plan.skipped) skip(from, "It is this hub, or a part of the client");
    for (const { from, error } of [...plan.refused, ...refused]) skip(from, error.message);
    return {
      added: added.map(({ name }) => name),
      skipped,
      groups: [...groups],
      missing_secrets: [...new Set(added.flatMap(({ missing }) => missing))],
    };
  }

  #scan(folder: string | undefined): Promise<ScannedFile[]> {
    if (folder !== undefined && !isAbsolute(folder)) {
      throw new HubError("InvalidArgument", "The folder must be an absolute path", { field: "folder" });
    }
    return scan({ clients: IMPORTABLE, context: this.#managed.user, folder });
  }
}

function toNew(server: PlannedServer): ImportCandidate {
  const { from, name, entry, secrets, missing, notes } = server;
  const config = normalizeServer(name, entry);
  const { id: _id, name: _name, ...shown } = toEntry(config, hideAll);
  const isTaken = name !== toLegalName(from.name);
  return {
    ...toShown(from),
    as: name,
    kind: config.transport.type === "stdio" ? config.transport.launcher : config.transport.type,
    command_line: commandLineOf(config.transport),
    entry: { ...shown },
    secrets: secrets.size,
    missing_secrets: [...missing],
    notes: [...notes],
    state: isTaken ? "conflict" : "new",
    reason: isTaken ? `The hub, or another client, has another server named ${toLegalName(from.name)}` : null,
    enabled_by_default: config.enabled,
  };
}

/** What is known of an entry that is not translated. */
function toShown({ file, name, entry }: FoundServer): Omit<ImportCandidate, "state"> {
  const { command, args, url } = isObject(entry) ? entry : {};
  const words = Array.isArray(args) ? args.filter((word) => typeof word === "string") : [];
  return {
    client: file.client.id,
    name,
    as: null,
    kind: null,
    command_line:
      typeof url === "string"
        ? maskUrl(url, hideAll)
        : [...(typeof command === "string" ? [command] : []), ...maskArgs(words, hideAll)].join(" "),
    path: file.path,
    scope: file.scope,
    entry: null,
    secrets: 0,
    missing_secrets: [],
    notes: [],
    reason: null,
    enabled_by_default: false,
  };
}

function commandLineOf(transport: Transport): string {
  if (transport.type !== "stdio") return maskUrl(transport.url, hideAll);
  return [transport.command, ...maskArgs(transport.args, hideAll)].join(" ");
}
