// `plugboard secret`: the values that config entries refer to by `secretRef`. A value is never on the command line, where
// every user of the machine could read it, and never shown again.

import { text as readAll } from "node:stream/consumers";
import { HubError } from "../errors.ts";
import { withAccess } from "./access.ts";
import type { GlobalOptions, Io } from "./io.ts";
import type { Register } from "./program.ts";
import { readHidden } from "./read-hidden.ts";
import { count } from "./text.ts";

export const secretCommand: Register = (program, { io, done }) => {
  const secret = program.command("secret").description("manage secrets for servers: ls, set, rm, rotate-key");
  secret
    .command("set")
    .description("store a secret; its value is asked for, or read from stdin")
    .argument("<name>", "the name that secretRef uses")
    .action(async (name: string, options: GlobalOptions) => {
      const value = await readValue(io, name, options);
      await withAccess(io, options, async ({ api, out }) => {
        const { used_by, starting = [] } = await api.setSecret(name, value);
        const later = used_by.filter((server) => !starting.includes(server));
        const notes = [
          ...(starting.length === 0 ? [] : [`; starting ${starting.join(", ")}, which waited for it`]),
          ...(later.length === 0 ? [] : [`; ${later.join(", ")} will have it at the next start`]),
        ];
        out.changed(`Stored the secret ${name}${notes.join("")}`, { name, used_by, starting });
      });
      done(0);
    });
  secret
    .command("ls")
    .alias("list")
    .description("list the names of all secrets, and the servers that use them")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const secrets = await api.listSecrets();
        if (out.json) out.data(secrets);
        else if (secrets.length === 0) out.note("There are no secrets: plugboard secret set NAME stores one");
        else out.table([["NAME", "USED BY"], ...secrets.map(({ name, used_by }) => [name, used_by.join(" ") || "-"])]);
      });
      done(0);
    });
  secret
    .command("rm")
    .alias("remove")
    .description("delete a secret")
    .argument("<name>")
    .option("--force", "also one that servers use")
    .action(async (name: string, options: GlobalOptions & { readonly force?: boolean }) => {
      await withAccess(io, options, async ({ api, out }) => {
        const users = (await api.listSecrets()).find((known) => known.name === name)?.used_by ?? [];
        await api.deleteSecret(name, { force: options.force });
        out.changed(`Deleted the secret ${name}`, { removed: name, used_by: users });
        if (users.length > 0 && !out.json)
          out.warn(`${users.join(", ")} will be without it from the next start on: plugboard secret set ${name}`);
      });
      done(0);
    });
  secret
    .command("rotate-key")
    .description("encrypt all secrets with a new key; copies of the old one open nothing any more")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const result = await api.rotateSecretKey();
        const text = `Encrypted ${count(result.rotated, "secret")} with a new key`;
        out.changed(result.rotated === 0 ? "There are no secrets yet" : text, result);
      });
      done(0);
    });
};

const PIPED = "printf %s VALUE | plugboard secret set NAME";

/** The last line break is the terminal's or echo's, not the secret's. */
async function readValue(io: Io, name: string, { input }: GlobalOptions): Promise<string> {
  const typed = io.stdin.isTTY === true;
  if (typed && input === false) {
    throw new HubError("InvalidConfig", "The value must come from stdin where nothing may be asked", { hint: PIPED });
  }
  const value = typed ? await readHidden(io, `Value of ${name}: `) : (await readAll(io.stdin)).replace(/\r?\n$/, "");
  if (value !== "") return value;
  throw new HubError("InvalidConfig", "The secret is empty", { hint: PIPED });
}
