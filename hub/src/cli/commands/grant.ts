// `plugboard grant`: the OAuth clients that people have let use the hub.

import type { ClientGrant } from "../../api/schemas/oauth.ts";
import type { Register } from "../command.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import { span } from "../terminal/times.ts";

const ID_CHARS = 8;

export const grantCommand: Register = (program, { io }) => {
  const grant = program.command("grant").description("see and end the access of OAuth clients: ls, rm");
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
    .argument("<id>")
    .action(async (id: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        await api.grants.revoke(id);
        out.changed(`Ended the access ${id}`, { revoked: id });
      });
    });
};

function toRow(grant: ClientGrant): string[] {
  const { id, client_name, redirect_host, principal, groups, read_only, expires_at, used_at } = grant;
  const where = groups.join(" ");
  return [
    id.slice(0, ID_CHARS),
    client_name ?? "-",
    redirect_host,
    principal,
    read_only ? `${where} (read-only)` : where,
    `in ${span(Math.max(0, Date.parse(expires_at) - Date.now()))}`,
    used_at === null ? "never" : `${span(Date.now() - Date.parse(used_at))} ago`,
  ];
}
