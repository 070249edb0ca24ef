// `plugboard audit`: who did what, and whether the log of it was tampered with.

import { HubError } from "../../errors.ts";
import type { AuditRowView } from "../../api/schemas/audit.ts";
import type { Register } from "../command.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Cell } from "../terminal/table.ts";
import { count } from "../terminal/text.ts";
import { parseSince } from "../terminal/times.ts";

interface AuditOptions extends GlobalOptions {
  readonly who?: string;
  readonly what?: string;
  readonly since?: string;
  readonly limit?: string;
}

interface VerifyOptions extends GlobalOptions {
  readonly head?: string;
}

export const auditCommand: Register = (program, { io }) => {
  const audit = program
    .command("audit")
    .description("who did what: tokens, users, config, secrets, logins, refusals; verify")
    .option("--who <name>", "a principal, or the email address of a user")
    .option("--what <action>", "an action, or its first part: token, user, config, secret, auth, …")
    .option("--since <time>", "2h, 7d, or a date")
    .option("--limit <n>", "rows to show (default: 50)")
    .action(async ({ who, what, since, limit, ...options }: AuditOptions) => {
      const filter = {
        ...(who === undefined ? {} : { who }),
        ...(what === undefined ? {} : { what }),
        ...(since === undefined ? {} : { since: parseSince(since, "since").getTime() }),
        ...(limit === undefined ? {} : { limit: limitOf(limit) }),
      };
      await withAccess(io, options, async ({ api, out }) => {
        const page = await api.audit.search(filter);
        if (out.json) return out.data(page);
        if (page.rows.length === 0) return out.note("Nothing is recorded");
        out.table([["N", "TIME", "WHO", "ACTION", "OBJECT", "FROM", ""], ...page.rows.map(toRow)], { right: [0] });
        if (page.next !== null) out.note("There are older rows: --limit, or --since");
        out.note(`head  ${page.head}`);
      });
    });
  audit
    .command("verify")
    .description("check that no row was changed, removed or inserted")
    .option("--head <hash>", "a head that was printed earlier: it must still be in the log")
    .action(async ({ head, ...options }: VerifyOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const check = await api.audit.verify(head === undefined ? {} : { head });
        if (check.fault !== null) {
          const { n, what } = check.fault;
          throw new HubError("DatabaseError", `Row ${n} of the audit log ${FAULTS[what]}`, {
            detail: `${count(check.rows, "row")} before it are as they were written`,
          });
        }
        if (check.noted?.n === null) {
          throw new HubError("DatabaseError", "The noted head is not in the audit log", {
            detail: `Rows were removed at its end, or all were written anew: ${count(check.rows, "row")} are left`,
            hint: "Restore the log from a backup, and find out who could write identity.db",
          });
        }
        if (out.json) return out.data(check);
        out.print(`${count(check.rows, "row")}, all as they were written`);
        if (check.noted !== null) out.print(`The noted head is that of row ${check.noted.n}`);
        if (check.rows > 0) out.print(`head  ${check.head}`);
      });
    });
};

const FAULTS = {
  changed: "was changed",
  missing: "is missing",
  inserted: "was inserted",
} as const;

const MAX_ROWS = 1000;

function limitOf(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_ROWS) return limit;
  throw new HubError("InvalidArgument", `--limit is a number from 1 to ${MAX_ROWS}`, { field: "limit" });
}

function toRow({ n, at, who, client, action, object, address, outcome, detail }: AuditRowView): Cell[] {
  const what = [object, detail === null ? undefined : `(${detail})`].filter(
    (part) => part !== undefined && part !== null,
  );
  return [
    String(n),
    at.slice(0, 19).replace("T", " "),
    client === null ? who : `${who} by ${client}`,
    action,
    what.join(" "),
    address ?? "-",
    outcome === "allowed" ? "" : outcome,
  ];
}
