// A question on the terminal that is answered with yes or no.

import { createInterface } from "node:readline";
import { HubError } from "../errors.ts";
import type { GlobalOptions, Io } from "./io.ts";

/** Whether somebody is there to answer. */
export function canAsk({ stdin, stderr }: Io, { input, json, quiet }: GlobalOptions): boolean {
  return stdin.isTTY === true && stderr.isTTY === true && input !== false && json !== true && quiet !== true;
}

/** Enter alone means yes. Ctrl-C ends the command; the end of the input means no. */
export function askYes({ stdin, stderr }: Io, question: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stdin, output: stderr, terminal: true });
    lines.once("SIGINT", () => {
      reject(new HubError("Cancelled", "Interrupted"));
      stderr.write("\n");
      lines.close();
    });
    lines.once("close", () => resolve(false));
    lines.question(`${question} [Y/n] `, (answer) => {
      resolve(/^(?:y|yes|)$/i.test(answer.trim()));
      lines.close();
    });
  });
}
