// `plugboard token`: access tokens for the clients of the hub. A token is shown once, when it is made.

import { HubError } from "../../errors.ts";
import type { AccessToken } from "../../api/schemas/token.ts";
import type { Register } from "../command.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import { parseDays, span } from "../terminal/times.ts";

interface AddOptions extends GlobalOptions {
  readonly group?: readonly string[];
  readonly readOnly?: boolean;
  readonly expires?: string;
  readonly for?: string;
  readonly role?: string;
}

const MINUTE_MS = 60_000;
const ROLES = ["user", "operator", "admin"] as const;

export const tokenCommand: Register = (program, { io }) => {
  const token = program.command("token").description("manage access tokens for clients of the hub: add, ls, rm");
  token
    .command("add")
    .description("make an access token; it is shown once")
    .argument("<name>", "of the person or program that uses it")
    .option("--group <name>", "a group that it may use; may be repeated (default: all)", collect)
    .option("--read-only", "only tools that say that they change nothing")
    .option("--expires <time>", "30d, 12h, or never (default: 90d)")
    .option("--for <principal>", "the person or program that it stands for (default: its name)")
    .option("--role <role>", "for the management API: user, operator or admin (default: user)")
    .action(async (name: string, options: AddOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const made = await api.tokens.create({
          name,
          ...(options.group === undefined ? {} : { groups: [...options.group] }),
          ...(options.readOnly === true ? { read_only: true } : {}),
          ...(options.for === undefined ? {} : { for: options.for }),
          ...(options.role === undefined ? {} : { role: roleOf(options.role) }),
          ...(options.expires === undefined ? {} : { expires_in_days: daysOf(options.expires) }),
        });
        if (out.json) return out.data(made);
        out.print(made.token);
        out.note(`${allows(made)}. It is not shown again; to revoke it: plugboard token rm '${made.name}'`);
      });
    });
  token
    .command("ls")
    .alias("list")
    .description("list the access tokens that are valid")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const tokens = await api.tokens.list();
        if (out.json) return out.data(tokens);
        if (tokens.length === 0) return out.note("No access tokens. Make one: plugboard token add NAME");
        out.table([["NAME", "TOKEN", "FOR", "GROUPS", "ROLE", "EXPIRES", "LAST USED"], ...tokens.map(toRow)]);
      });
    });
  token
    .command("rm")
    .alias("revoke")
    .description("revoke an access token: everything that it holds open ends")
    .argument("<name>", "name or id")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        await api.tokens.revoke(name);
        out.changed(`Revoked the token ${name}`, { revoked: name });
      });
    });
};

function collect(group: string, before: readonly string[] = []): string[] {
  return [...before, group];
}

function roleOf(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((each) => each === text);
  if (role !== undefined) return role;
  throw new HubError("InvalidArgument", `There is no role "${text}"`, {
    field: "role",
    hint: `Use ${ROLES.join(", ")}`,
  });
}

function daysOf(text: string): number | null {
  return text === "never" ? null : parseDays(text, "expires");
}

function allows({ groups, read_only, expires_at }: AccessToken): string {
  const where = groups === "*" ? "all groups" : `the group${groups.length === 1 ? "" : "s"} ${groups.join(", ")}`;
  const how = read_only ? `Reads from ${where}` : `Uses ${where}`;
  return `${how}, ${expires_at === null ? "never expires" : `expires in ${until(expires_at)}`}`;
}

function toRow({
  name,
  start,
  principal,
  groups,
  read_only,
  role,
  expires_at,
  used_at,
  used_from,
}: AccessToken): string[] {
  const where = groups === "*" ? "*" : groups.join(" ");
  const used = used_at === null ? "never" : `${span(Date.now() - Date.parse(used_at))} ago`;
  return [
    name,
    `${start}…`,
    principal,
    read_only ? `${where} (read-only)` : where,
    role,
    expires_at === null ? "never" : `in ${until(expires_at)}`,
    used_from === null ? used : `${used} from ${used_from}`,
  ];
}

/** Rounded up to minutes, so that a new token expires in 90 days. */
function until(time: string): string {
  return span(Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / MINUTE_MS) * MINUTE_MS));
}
