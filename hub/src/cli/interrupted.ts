// Ctrl-C as an error. The user sees it at once, even if stopping takes time.

import { HubError } from "../errors.ts";
import type { Io } from "./io.ts";

/** Already printed, so the command does not print it again. */
export class Interrupted extends HubError {
  constructor({ stderr }: Pick<Io, "stderr">) {
    super("Cancelled", "cancelled");
    stderr.write("cancelled\n");
  }
}
