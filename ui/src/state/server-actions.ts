// What a person can do with servers. The store is updated at once; failures are shown where the server is, and said.

import type { PackageUpdate, Server, UpdatePreview } from "$api/server.ts";
import { api, Problem } from "../lib/hub/api.ts";
import { pathTo } from "../lib/route.ts";
import { common } from "../text/common.ts";
import { serversText as text } from "../text/servers.ts";
import { confirmations } from "./confirm.svelte.ts";
import { servers } from "./servers.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

export type Action = "start" | "stop" | "restart" | "enable" | "disable";

/** How long a removal can be taken back. */
const UNDO_MS = 10_000;

/** Throws a Problem. */
export async function act(name: string, action: Action): Promise<void> {
  servers.put(summaryOf(await api.post<Server>(pathTo`/servers/${name}/${action}`)));
}

/** Says what went wrong instead of throwing: for buttons without a place of their own for errors. */
export async function actOrSay(name: string, action: Action): Promise<void> {
  await sayProblem(name, () => act(name, action));
}

/** The switch turns at once, and back with the reason if it fails. */
export async function setEnabled(server: Server, enabled: boolean): Promise<void> {
  const { name } = server.config;
  const status = enabled ? "starting" : "disabled";
  servers.put({ ...server, config: { ...server.config, enabled }, status, stage: null });
  await sayProblem(name, () => act(name, enabled ? "enable" : "disable"));
  await servers.read(name);
}

/** Shows first what the new version changes in the tools. */
export async function updatePackage(name: string): Promise<void> {
  await sayProblem(name, async () => {
    toasts.show(text.tryingUpdate(name));
    const preview = await api.post<UpdatePreview>(pathTo`/servers/${name}/update/preview`);
    if (!preview.changed) return toasts.show(text.upToDate(name, preview.to));
    const { yes } = await confirmations.ask({
      title: text.updateTitle(name, preview.to),
      text: preview.diff.length === 0 ? text.sameTools : text.changedTools,
      lines: preview.diff,
      action: text.actions.update,
    });
    if (yes) showVersion(name, await api.post<PackageUpdate>(pathTo`/servers/${name}/update`));
  });
}

/** To the version before the last update. */
export async function rollBackPackage(name: string): Promise<void> {
  await sayProblem(name, async () => {
    showVersion(name, await api.post<PackageUpdate>(pathTo`/servers/${name}/update/rollback`));
  });
}

function showVersion(name: string, { changed, to, server }: PackageUpdate): void {
  servers.put(summaryOf(server));
  toasts.show(changed ? text.updated(name, to) : text.upToDate(name, to));
}

/** Stores the value, and lets the variable refer to it if it does not yet. A server that waited for it starts by itself. */
export async function setVariable(
  { config, secret_refs: refs }: Server,
  variable: string,
  value: string,
): Promise<void> {
  const secret = refs[variable] ?? `${config.name}-${variable}`;
  await api.put(pathTo`/secrets/${secret}`, { value });
  if (refs[variable] !== undefined) return;
  const patch = { env: { [variable]: { secretRef: secret } } };
  servers.put(summaryOf(await api.patch<Server>(pathTo`/servers/${config.name}`, patch)));
}

/**
 * Removes servers: after a question if groups or secrets hang on them, and else at once, with ten seconds to take it back.
 * Resolves when it is decided, not when they are gone.
 */
export async function removeServers(list: readonly Server[]): Promise<void> {
  const names = list.map(({ config }) => config.name);
  const groups = [...new Set(list.flatMap((server) => server.groups))].filter((group) => group !== "default");
  const secrets = [...new Set(list.flatMap(({ secret_refs: refs }) => Object.values(refs)))];
  if (groups.length > 0 || secrets.length > 0) {
    const { yes, option } = await confirmations.ask({
      title: text.removeTitle(names),
      text: text.removeText(
        list.reduce((sum, server) => sum + server.tool_count, 0),
        groups,
        secrets,
      ),
      action: common.remove,
      danger: true,
      word: list.length === 1 ? names[0] : undefined,
      option: secrets.length > 0 ? text.removeSecrets(secrets) : undefined,
    });
    if (yes) await Promise.all(list.map((server) => removeNow(server, option ? secrets : [])));
    return;
  }
  removeLater(list);
}

function removeLater(list: readonly Server[]): void {
  for (const { config } of list) servers.hide(config.name);
  const finish = () => {
    removeEventListener("pagehide", finish);
    for (const server of list) void removeNow(server, []);
  };
  // A closed page keeps its word.
  addEventListener("pagehide", finish);
  toasts.show(text.removed(list.map(({ config }) => config.name)), {
    ms: UNDO_MS,
    onGone: finish,
    action: {
      label: common.undo,
      run: () => {
        removeEventListener("pagehide", finish);
        for (const { config } of list) servers.unhide(config.name);
      },
    },
  });
}

async function removeNow({ config: { name } }: Server, secrets: readonly string[]): Promise<void> {
  await sayProblem(name, async () => {
    await api.del(pathTo`/servers/${name}`, { keepalive: true });
    servers.remove(name);
    for (const secret of secrets) await api.del(pathTo`/secrets/${secret}`);
  });
  servers.unhide(name);
}

async function sayProblem(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toasts.show(text.failed(name, error.message));
  }
}

/** Answers of actions have the tools too. */
function summaryOf(server: Server): Server {
  return { ...server, tools: [], resources: [] };
}
