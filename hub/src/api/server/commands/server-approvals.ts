// ServerApprovals: what a server would run, how its tools differ from what was approved, and approving both.

import type { ServerApprovals } from "../../../approval/server-approvals.ts";
import { diffPins } from "../../../approval/pins.ts";
import { digestOf, needsApproval, originOf, runDigest } from "../../../approval/run.ts";
import type { ToolDifference as Difference } from "../../../catalog/tool-diff.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";
import { HubError } from "../../../errors.ts";
import { revealHidden } from "../../../lib/hidden-text.ts";
import type { ManagedServer } from "../../../servers/server.ts";
import type { Approval, ApprovalDetail, ApprovalInput, ToolDifference } from "../../schemas/server-approval.ts";
import type { Managed } from "../core.ts";
import { toShown } from "../entry/entry.ts";
import { KnownSecrets } from "../entry/known-secrets.ts";

const MAX_DESCRIPTION = 400;

export class ServerApprovalCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  list(): Approval[] {
    const { supervisor, serverApprovals: approvals } = this.#managed.hub;
    return supervisor.servers.map((server) => summarize(approvals, server));
  }

  async get(id: string): Promise<ApprovalDetail> {
    return this.#detail(this.#managed.hub.supervisor.get(id));
  }

  /** Approves what `get` shows. A server that waited for it starts; its tools are pinned when it has listed them. */
  async approve(id: string, { tools: names, digest }: ApprovalInput, by: string): Promise<ApprovalDetail> {
    const { supervisor, serverApprovals: approvals, events } = this.#managed.hub;
    const server = supervisor.get(id);
    if (server.config.invalid !== undefined) throw server.unavailable();
    if (digest !== undefined && digest !== (await this.#detail(server)).digest) {
      throw new HubError("Conflict", `"${server.name}" has changed since it was shown`, {
        hint: `Look at it again: plugboard pins ${server.name}`,
      });
    }
    await approvals.approve(server.config, { by, tools: server.listing?.tools, names });
    events.emit("server.approved", { server: server.name, by, tools: names });
    return this.get(server.name);
  }

  async #detail(server: ManagedServer): Promise<ApprovalDetail> {
    const { serverApprovals: approvals, secrets, catalog } = this.#managed.hub;
    const { config, listing } = server;
    const pins = approvals.recordOf(server.name)?.pins;
    const withheld = approvals.withheld(config, listing?.tools ?? []);
    // Tools of a program that may not run are those of another program.
    const isComparable = approvals.refusal(config) === undefined;
    const differences =
      pins !== undefined && listing !== undefined && isComparable ? diffPins(pins, listing.tools) : [];
    const definitions = new Map(listing?.tools.map((tool) => [tool["name"], tool]));
    return {
      ...summarize(approvals, server),
      digest: digestOf([
        needsApproval(config) ? runDigest(config) : null,
        differences,
        approvals.damageOf(server.name),
      ]),
      run: toRun(config, await KnownSecrets.of(secrets)),
      differences: differences.map((difference) => {
        const definition = definitions.get(difference.tool);
        return {
          ...toDifference(difference),
          withheld: withheld?.has(difference.tool) ?? false,
          warnings: definition === undefined ? [] : catalog.flagsOf(server.name, definition),
        };
      }),
    };
  }
}

export function summarize(approvals: ServerApprovals, server: ManagedServer): Approval {
  const { config, name, listing } = server;
  const record = approvals.recordOf(name);
  const refusal = approvals.refusal(config);
  const tools = listing?.tools ?? [];
  const { policy, changes } = approvals.judge(config, tools);
  const listed = new Set(tools.map((tool) => String(tool["name"])));
  const states = [...changes.values()];
  return {
    server: name,
    state: refusal === undefined ? "approved" : "required",
    reason: refusal?.detail ?? null,
    origin: originOf(config.source),
    by: record?.run?.by ?? null,
    at: record?.run === undefined ? null : new Date(record.run.at).toISOString(),
    pins: policy,
    pinned: record?.pins?.size ?? null,
    changed: states.filter((state) => state === "changed").length,
    added: states.filter((state) => state === "added").length,
    removed: listing === undefined ? 0 : [...(record?.pins?.keys() ?? [])].filter((tool) => !listed.has(tool)).length,
    withheld: approvals.withheld(config, tools)?.size ?? 0,
    damaged: approvals.damageOf(name) ?? null,
  };
}

function toRun(config: ServerConfig, secrets: KnownSecrets): ApprovalDetail["run"] {
  const { command, args, cwd, url, headers = {}, env, allowEnv = [] } = toShown(config, secrets);
  const isLocal = config.transport.type === "stdio";
  return {
    command: isLocal ? [command, ...args].map(revealHidden) : null,
    cwd: cwd ?? null,
    url: url === undefined ? null : revealHidden(url),
    headers: Object.keys(headers),
    env: Object.keys(env),
    allow_env: allowEnv,
  };
}

function toDifference(difference: Difference): Omit<ToolDifference, "withheld" | "warnings"> {
  const { tool, change } = difference;
  const shown = { tool, change, description: null, members: [] };
  if (change === "changed") {
    const members = difference.members.map(({ path, before, after }) => ({
      path: revealHidden(path),
      before: before ?? null,
      after: after ?? null,
    }));
    return { ...shown, members };
  }
  if (change === "removed") return shown;
  const { description } = difference.definition;
  return { ...shown, description: typeof description === "string" ? clip(revealHidden(description)) : null };
}

function clip(text: string): string {
  return text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text;
}
