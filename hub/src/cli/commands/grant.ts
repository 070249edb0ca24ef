// `plugboard grant`: the OAuth clients that use the hub: those that people have let in, and programs with credentials of their own.

import { readFile } from "node:fs/promises";
import type { ClientGrant } from "../../api/schemas/oauth.ts";
import type { Register } from "../command.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import { HubError } from "../../errors.ts";
import { parseDays, span } from "../terminal/times.ts";

interface AddOptions extends GlobalOptions {
  readonly group: readonly string[];
  readonly readOnly?: boolean;
  readonly expires?: string;
  readonly publicKey?: string;
}

const ID_CHARS = 8;

export const grantCommand: Register = (program, { io }) => {
  const grant = program.command("grant").description("give, see and end the access of OAuth clients: add, ls, rm");
  grant
    .command("add")
    .description("give a program access by client credentials; its secret is shown once")
    .argument("<name>", "of the program: access lists name it service:NAME")
    .requiredOption("--group <name>", "a group that it may use; may be repeated", collect)
    .option("--read-only", "only tools that say that they change nothing")
    .option("--expires <time>", "30d or 12h (default: 365d)")
    .option("--public-key <file>", "PEM or JWK; it signs with the private key instead of having a secret")
    .action(async (name: string, options: AddOptions) => {
      const { group, readOnly, expires, publicKey } = options;
      const key = publicKey === undefined ? undefined : await readKey(publicKey);
      await withAccess(io, options, async ({ api, out }) => {
        const made = await api.grants.create({
          name,
          groups: [...group],
          ...(readOnly === true ? { read_only: true } : {}),
          ...(expires === undefined ? {} : { expires_in_days: parseDays(expires, "expires") }),
          ...(key === undefined ? {} : { public_key: key }),
        });
        if (out.json) return out.data(made);
        out.table([
          ["client id", made.client_id],
          ...(made.client_secret === null ? [] : [["client secret", made.client_secret]]),
          ...(made.token_url === null ? [] : [["token url", made.token_url]]),
        ]);
        const credentials = made.client_secret === null ? "It signs with its key" : "The secret is not shown again";
        out.note(`${credentials}; to end the access: plugboard grant rm ${made.id.slice(0, ID_CHARS)}`);
      });
    });
  grant
    .command("ls")
    .alias("list")
    .description("list the OAuth clients that have access")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const grants = await api.grants.list();
        if (out.json) return out.data(grants);
        if (grants.length === 0) return out.note("No OAuth client has access");
        out.table([["ID", "CLIENT", "GOES TO", "FOR", "GROUPS", "EXPIRES", "LAST USED"], ...grants.map(toRow)]);
      });
    });
  grant
    .command("rm")
    .alias("revoke")
    .description("end the access of an OAuth client, and everything that it holds open")
    .argument("<id>", "the id that plugboard grant ls shows")
    .action(async (id: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        await api.grants.revoke(id);
        out.changed(`Ended the access ${id}`, { revoked: id });
      });
    });
};

function collect(group: string, before: readonly string[] = []): string[] {
  return [...before, group];
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new HubError("InvalidArgument", `The key ${path} cannot be read`, { field: "public_key", cause });
  }
}

function toRow(grant: ClientGrant): string[] {
  const { id, client_name, redirect_host, principal, groups, read_only, expires_at, used_at } = grant;
  const where = groups.join(" ");
  return [
    id.slice(0, ID_CHARS),
    client_name ?? "-",
    redirect_host ?? "-",
    principal,
    read_only ? `${where} (read-only)` : where,
    `in ${span(Math.max(0, Date.parse(expires_at) - Date.now()))}`,
    used_at === null ? "never" : `${span(Date.now() - Date.parse(used_at))} ago`,
  ];
}
