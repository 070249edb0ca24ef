// Ctrl-C: the command ends, and its user is told at once, whatever has to be stopped first.

import { HubError } from "../errors.ts";
import type { Io } from "./io.ts";

/** Has been told already: nobody need print it. */
export class Interrupted extends HubError {
  constructor({ stderr }: Pick<Io, "stderr">) {
    super("Cancelled", "cancelled");
    stderr.write("cancelled\n");
  }
}
