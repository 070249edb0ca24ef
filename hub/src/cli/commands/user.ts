// `plugboard user`: everyone who has signed in to the hub, and what they may do.

import { HubError } from "../../errors.ts";
import type { UserView } from "../../api/schemas/user.ts";
import type { Register } from "../command.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions } from "../io.ts";
import type { Cell } from "../terminal/table.ts";
import { span } from "../terminal/times.ts";

const ROLES = ["user", "operator", "admin"] as const;
const DEFAULT = "default";

export const userCommand: Register = (program, { io }) => {
  const user = program
    .command("user")
    .description("manage the people who have signed in: ls, role, disable, enable, rm");
  user
    .command("ls")
    .alias("list")
    .description("list everyone who has signed in")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const users = await api.users.list();
        if (out.json) return out.data(users);
        if (users.length === 0) return out.note("No one has signed in yet");
        out.table([["USER", "ROLE", "TEAMS", "ISSUER", "SEEN", ""], ...users.map(toRow)]);
      });
    });
  user
    .command("role")
    .description("give a user a role; what the user holds open ends")
    .argument("<user>", "email address or id")
    .argument("<role>", `${ROLES.join(", ")}, or ${DEFAULT} for what the issuer says`)
    .action(async (name: string, given: string, options: GlobalOptions) => {
      const role = given === DEFAULT ? null : roleOf(given);
      await withAccess(io, options, async ({ api, out }) => {
        const changed = await api.users.change(name, { role });
        out.changed(`${labelOf(changed)} has the role ${changed.role}`, changed);
      });
    });
  for (const [verb, description, disabled] of [
    ["disable", "refuse all credentials of a user; what the user holds open ends", true],
    ["enable", "accept the credentials of a user again", false],
  ] as const) {
    user
      .command(verb)
      .description(description)
      .argument("<user>", "email address or id")
      .action(async (name: string, options: GlobalOptions) => {
        await withAccess(io, options, async ({ api, out }) => {
          const changed = await api.users.change(name, { disabled });
          out.changed(`${labelOf(changed)} is ${disabled ? "disabled" : "enabled"}`, changed);
        });
      });
  }
  user
    .command("rm")
    .alias("remove")
    .description("forget a user and revoke the user's tokens; after the next sign-in it is a new user")
    .argument("<user>", "email address or id")
    .action(async (name: string, options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        await api.users.remove(name);
        out.changed(`Removed the user ${name}`, { removed: name });
      });
    });
};

function roleOf(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((each) => each === text);
  if (role !== undefined) return role;
  throw new HubError("InvalidArgument", `There is no role "${text}"`, {
    field: "role",
    hint: `Use ${ROLES.join(", ")} or ${DEFAULT}`,
  });
}

function labelOf({ email, name, id }: UserView): string {
  return email ?? name ?? id;
}

function toRow(user: UserView): Cell[] {
  const { role, teams, issuer, seen_at, disabled } = user;
  const seen = `${span(Date.now() - Date.parse(seen_at))} ago`;
  return [labelOf(user), role, teams.join(" ") || "-", issuer, seen, disabled ? "disabled" : ""];
}
