// Other MCP clients on this machine: the hub's entry in their files, and backups of the files. Each write keeps a backup, and changes
// nothing but the hub's entry and the servers that are taken over.

import { isAbsolute } from "node:path";
import { CLIENTS, clientsNamed } from "../../../client-configs/client-table.ts";
import { isInstalled, summarize } from "../../../client-configs/client-files.ts";
import type { Client as KnownClient } from "../../../client-configs/client.ts";
import type { ClientFile } from "../../../client-configs/file.ts";
import { editorFor } from "../../../client-configs/formats/format.ts";
import { scan } from "../../../client-configs/import/scan.ts";
import { Backups, type Backup } from "../../../client-configs/install/backups.ts";
import { installInto, restoreBackup, uninstallFrom, type Change } from "../../../client-configs/install/change.ts";
import { toDeepLink } from "../../../client-configs/install/deep-link.ts";
import { toHubEntry, type HubLaunch } from "../../../client-configs/install/hub-entry.ts";
import { hubAddress, hubProgram } from "../../../client-configs/install/hub-launch.ts";
import {
  clientWarnings,
  duplicatesIn,
  hubWarnings,
  requireHttp,
  targetFile,
} from "../../../client-configs/install/installing.ts";
import { maskFileText } from "../../../client-configs/mask-file.ts";
import { HubError } from "../../../errors.ts";
import { endpointPath } from "../../../http/group-path.ts";
import { hideAll } from "../../../redaction/mask.ts";
import type { Client, ClientBackup, ClientChange, ClientPlan, InstallInput } from "../../schemas/client.ts";
import type { Managed } from "../core.ts";
import { KnownSecrets } from "../entry/known-secrets.ts";
import { excerpts } from "../entry/excerpts.ts";
import type { ImportCommands } from "./imports.ts";

export interface ClientScope {
  /** A project, for its file in place of the user's. */
  readonly folder?: string | undefined;
  /** Address of the hub, as the request names it. */
  readonly address: string;
}

export class ClientCommands {
  readonly #managed: Managed;
  readonly #imports: ImportCommands;
  readonly #backups: Backups;

  constructor(managed: Managed, imports: ImportCommands) {
    this.#managed = managed;
    this.#imports = imports;
    this.#backups = new Backups(managed.paths.data);
  }

  async list(scope: ClientScope): Promise<Client[]> {
    const { user } = this.#managed;
    const folder = checkedFolder(scope.folder);
    const scanned = await scan({ clients: CLIENTS, context: user, folder });
    const { known } = await this.#imports.planOf(scanned, scope.address);
    const all = await Promise.all(
      CLIENTS.map(async (client): Promise<Client | undefined> => {
        if (folder !== undefined && client.projectFile === undefined) return undefined;
        const file = await targetFile(client, user, folder);
        const found = scanned.find((each) => each.file.path === file.path);
        const { hub, others } = summarize({ file, servers: found?.servers ?? [] }, scope.address);
        return {
          id: client.id,
          title: client.name,
          installed: await isInstalled(file, user),
          path: file.path,
          scope: folder === undefined ? "user" : "project",
          hub: hub ?? null,
          servers: others,
          duplicates: duplicatesIn(known, file),
          error: found?.error?.toJSON() ?? null,
          tool_limit: client.toolLimit ?? null,
          transports: client.http ? ["stdio", "http"] : ["stdio"],
          restart_hint: client.restart ?? null,
          deep_link: toDeepLink(client, toHubEntry(this.#program(undefined, client), client)) ?? null,
        };
      }),
    );
    return all.filter((client) => client !== undefined);
  }

  /** The change of the file, without making it. */
  async plan(id: string, input: InstallInput, address: string): Promise<ClientPlan> {
    const change = await this.#install(id, input, { address, dryRun: true });
    const { file, kind, removed, texts } = change;
    const { client } = file;
    const group = this.#managed.hub.catalog.groupOrSuggest(input.group);
    const [before, after] = excerpts(await this.#masked(file, texts.before), await this.#masked(file, texts.after));
    return {
      path: file.path,
      before,
      after,
      change: kind,
      summary: summaryOf(change),
      removed: [...removed],
      warnings: [
        ...hubWarnings(this.#managed.user, { isHttp: input.transport === "http" }),
        ...(await clientWarnings(file, { tools: group.tools.length, isSearched: group.isSearched })),
      ],
      restart_hint: kind === "none" ? null : (client.restart ?? null),
    };
  }

  async install(id: string, input: InstallInput, address: string): Promise<ClientChange> {
    return toChange(await this.#install(id, input, { address, dryRun: false }));
  }

  async uninstall(id: string, { folder, address }: ClientScope): Promise<ClientChange> {
    const file = await this.#file(id, folder);
    return toChange(await uninstallFrom(file, { backups: this.#backups, dryRun: false, address }));
  }

  async backups(): Promise<ClientBackup[]> {
    const all = await Promise.all(CLIENTS.map(({ id }) => this.#backups.list(id)));
    return all
      .flat()
      .toSorted((a, b) => b.when.localeCompare(a.when))
      .map((backup) => ({
        id: idOf(backup),
        client: backup.client,
        path: backup.path,
        at: timeOf(backup),
        bytes: backup.text === undefined ? null : Buffer.byteLength(backup.text),
      }));
  }

  /** The file as it is now is backed up first. */
  async restore(id: string): Promise<ClientChange> {
    const [clientId = "", when = ""] = id.split("@");
    const [client] = clientsNamed([clientId]);
    const backup = (await this.#backups.list(clientId)).find((each) => each.when === when);
    if (client === undefined || backup === undefined) {
      throw new HubError("InvalidArgument", `There is no backup ${JSON.stringify(id)}`, { field: "id" });
    }
    const kept = await restoreBackup({ client, scope: "user", path: backup.path }, backup, this.#backups);
    return {
      path: backup.path,
      backup: idOf(kept),
      changed: true,
      removed: [],
      restart_hint: client.restart ?? null,
    };
  }

  async #install(
    id: string,
    input: InstallInput,
    { address, dryRun }: { readonly address: string; readonly dryRun: boolean },
  ): Promise<Change> {
    const { group, transport = "stdio", takeover = false, folder } = input;
    const file = await this.#file(id, folder);
    const { client } = file;
    if (transport === "http") requireHttp(client);
    // An unknown group is an error before anything is written.
    this.#managed.hub.catalog.groupOrSuggest(group);
    const launch =
      transport === "http" ? hubAddress(address, endpointPath(group), client) : this.#program(group, client);
    const options = { backups: this.#backups, dryRun, address };
    if (!takeover) return installInto(file, toHubEntry(launch, client), options);
    const scanned = await scan({ clients: [client], context: this.#managed.user, folder: checkedFolder(folder) });
    const { known } = await this.#imports.planOf(scanned, address);
    return installInto(file, toHubEntry(launch, client), { ...options, takeOver: duplicatesIn(known, file) });
  }

  async #file(id: string, folder: string | undefined): Promise<ClientFile> {
    return targetFile(clientNamed(id), this.#managed.user, checkedFolder(folder));
  }

  #program(group: string | undefined, client: KnownClient): HubLaunch {
    const { user, paths } = this.#managed;
    return hubProgram(user, { config: paths.config, group, client });
  }

  async #masked({ client, path }: ClientFile, text: string): Promise<string> {
    const editor = await editorFor(client.format);
    const secrets = await KnownSecrets.of(this.#managed.hub.secrets);
    return secrets.hideIn(maskFileText(text, editor.parse(text, path)), hideAll);
  }
}

function clientNamed(id: string): KnownClient {
  const [client] = clientsNamed([id]);
  if (client === undefined) throw new HubError("InvalidArgument", `There is no client ${JSON.stringify(id)}`);
  return client;
}

function checkedFolder(folder: string | undefined): string | undefined {
  if (folder === undefined || isAbsolute(folder)) return folder;
  throw new HubError("InvalidArgument", "The folder must be an absolute path", { field: "folder" });
}

function summaryOf({ kind, file, others, removed }: Change): string {
  const { name } = file.client;
  const stay = `${others} other ${others === 1 ? "server stays" : "servers stay"}`;
  const without = removed.length === 0 ? "" : `, and removes ${removed.join(", ")}, which the hub has`;
  switch (kind) {
    case "none":
      return `${name} has the hub already; nothing changes`;
    case "added":
      return `Adds the hub to ${name}${without}; ${stay}`;
    case "replaced":
      return `Changes the hub's entry in ${name}${without}; ${stay}`;
    case "removed":
      return `Removes the hub from ${name}; ${stay}`;
  }
}

function toChange({ file, kind, after, removed, backup }: Change): ClientChange {
  const isChanged = kind !== "none";
  return {
    path: file.path,
    backup: backup === undefined ? null : idOf(backup),
    changed: isChanged,
    removed: [...removed],
    // No restart is needed after the hub was removed.
    restart_hint: isChanged && after !== undefined ? (file.client.restart ?? null) : null,
  };
}

function idOf({ client, when }: Backup): string {
  return `${client}@${when}`;
}

/** The name of a backup has dashes in its time of day. */
function timeOf({ when }: Backup): string {
  return when.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:");
}
