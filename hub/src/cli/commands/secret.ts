// `plugboard secret`: manages the values that config entries name by `secretRef`. A value is never a command line argument,
// which every user of the machine could read, and is never shown.

import { text as readAll } from "node:stream/consumers";
import type { Connections } from "../../api/schemas/connection.ts";
import { HubError } from "../../errors.ts";
import { withAccess } from "../hub-access/hub-access.ts";
import type { GlobalOptions, Io } from "../io.ts";
import type { Register } from "../command.ts";
import { readHidden } from "../terminal/read-hidden.ts";
import type { Output } from "../terminal/output.ts";
import { count } from "../terminal/text.ts";

interface PersonalOptions extends GlobalOptions {
  readonly for?: string;
}

/** Personal secrets are apart from those of the hub. */
const FOR = ["--for <user>", "a personal secret: of an address, id or program, or `me`"] as const;

export const secretCommand: Register = (program, { io }) => {
  const secret = program.command("secret").description("manage secrets for servers: ls, set, rm, rotate-key");
  secret
    .command("set")
    .description("store a secret; prompts for the value, or reads it from stdin")
    .argument("<name>", "the name that secretRef uses, or with --for the name in ${user:NAME}")
    .option(...FOR)
    .action(async (name: string, options: PersonalOptions) => {
      const value = await readValue(io, name, options);
      await withAccess(io, options, async ({ api, out }) => {
        if (options.for !== undefined) {
          const stored = await api.connections.setSecret(name, value, { for: options.for });
          const users = stored.used_by.length === 0 ? "" : `, which ${stored.used_by.join(", ")} will use`;
          out.changed(`Stored the secret ${name} of ${stored.principal}${users}`, stored);
          return;
        }
        const { used_by, starting = [] } = await api.secrets.set(name, value);
        const later = used_by.filter((server) => !starting.includes(server));
        const notes = [
          ...(starting.length === 0 ? [] : [`; starting ${starting.join(", ")}`]),
          ...(later.length === 0 ? [] : [`; ${later.join(", ")} will use it after a restart`]),
        ];
        out.changed(`Stored the secret ${name}${notes.join("")}`, { name, used_by, starting });
      });
    });
  secret
    .command("ls")
    .alias("list")
    .description("list the names of all secrets, and the servers that use them")
    .option(...FOR)
    .action(async (options: PersonalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        if (options.for !== undefined) return showPersonal(out, await api.connections.get({ for: options.for }));
        const secrets = await api.secrets.list();
        if (out.json) out.data(secrets);
        else if (secrets.length === 0) out.note("No secrets. Store one: plugboard secret set NAME");
        else out.table([["NAME", "USED BY"], ...secrets.map(({ name, used_by }) => [name, used_by.join(" ") || "-"])]);
      });
    });
  secret
    .command("rm")
    .alias("remove")
    .description("delete a secret")
    .argument("<name>", "name of the secret")
    .option("--force", "even if servers use it")
    .option(...FOR)
    .action(async (name: string, options: PersonalOptions & { readonly force?: boolean }) => {
      await withAccess(io, options, async ({ api, out }) => {
        if (options.for !== undefined) {
          await api.connections.deleteSecret(name, { for: options.for });
          out.changed(`Deleted the secret ${name} of ${options.for}`, { removed: name, for: options.for });
          return;
        }
        const users = (await api.secrets.list()).find((known) => known.name === name)?.used_by ?? [];
        await api.secrets.delete(name, { force: options.force });
        out.changed(`Deleted the secret ${name}`, { removed: name, used_by: users });
        if (users.length > 0 && !out.json)
          out.warn(`Still used by ${users.join(", ")}. To store it again: plugboard secret set ${name}`);
      });
    });
  secret
    .command("rotate-key")
    .description("encrypt all secrets with a new key; the old key becomes useless")
    .action(async (options: GlobalOptions) => {
      await withAccess(io, options, async ({ api, out }) => {
        const result = await api.secrets.rotateKey();
        const text = `Encrypted ${count(result.rotated, "secret")} with a new key`;
        out.changed(result.rotated === 0 ? "No secrets yet" : text, result);
      });
    });
};

function showPersonal(out: Output, { principal, secrets }: Connections): void {
  if (out.json) return out.data(secrets);
  if (secrets.length === 0) return out.note(`${principal} has no personal secrets, and no server needs one`);
  out.table([
    ["NAME", "STATE", "USED BY"],
    ...secrets.map(({ name, is_set, used_by }) => [name, is_set ? "stored" : "missing", used_by.join(" ") || "-"]),
  ]);
}

const PIPED = "printf %s VALUE | plugboard secret set NAME";

/** A trailing line break comes from the terminal or echo and is not part of the secret. */
async function readValue(io: Io, name: string, { input }: GlobalOptions): Promise<string> {
  const typed = io.stdin.isTTY === true;
  if (typed && input === false) {
    throw new HubError("InvalidArgument", "With --no-input the value must come from stdin", { hint: PIPED });
  }
  const value = typed ? await readHidden(io, `Value of ${name}: `) : (await readAll(io.stdin)).replace(/\r?\n$/, "");
  if (value !== "") return value;
  throw new HubError("InvalidArgument", "The secret is empty", { hint: PIPED });
}
