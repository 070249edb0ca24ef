// `plugboard secret`: the values that config entries refer to by `secretRef`. A value is never on the command line, where
// every user of the machine could read it, and never shown again.

import { text as readAll } from "node:stream/consumers";
import { HubError } from "../errors.ts";
import type { GlobalOptions, Io } from "./io.ts";
import { withHub } from "./open-hub.ts";
import { printJson } from "./output.ts";
import type { Register } from "./program.ts";

export const secretCommand: Register = (program, io, done) => {
  const secret = program.command("secret").description("store secrets for servers");
  secret
    .command("set")
    .description("store a secret; its value is read from stdin")
    .argument("<name>", "the name that secretRef uses")
    .action(async (name: string, _: unknown, command: { optsWithGlobals(): GlobalOptions }) => {
      const value = await readValue(io);
      await withHub(io, command.optsWithGlobals(), (hub) => hub.secrets.set(name, value));
      io.stderr.write(`Stored the secret ${name}\n`);
      done(0);
    });
  secret
    .command("ls")
    .description("list the names of all secrets")
    .action(async (_: unknown, command: { optsWithGlobals(): GlobalOptions }) => {
      const options = command.optsWithGlobals();
      const names = await withHub(io, options, (hub) => hub.secrets.list());
      if (options.json === true) printJson(io, names);
      else io.stdout.write(names.map((name) => `${name}\n`).join(""));
      done(0);
    });
  secret
    .command("rm")
    .description("delete a secret")
    .argument("<name>")
    .action(async (name: string, _: unknown, command: { optsWithGlobals(): GlobalOptions }) => {
      const found = await withHub(io, command.optsWithGlobals(), (hub) => hub.secrets.delete(name));
      if (!found) throw new HubError("ServerNotFound", `There is no secret "${name}"`, { hint: "plugboard secret ls" });
      io.stderr.write(`Deleted the secret ${name}\n`);
      done(0);
    });
};

/** The last line break is the terminal's or echo's, not the secret's. */
async function readValue(io: Io): Promise<string> {
  if ("isTTY" in io.stdin && io.stdin.isTTY === true) io.stderr.write("Type the value, then Enter and Ctrl-D:\n");
  const value = (await readAll(io.stdin)).replace(/\r?\n$/, "");
  if (value !== "") return value;
  throw new HubError("InvalidConfig", "The secret is empty", { hint: "printf %s VALUE | plugboard secret set NAME" });
}
