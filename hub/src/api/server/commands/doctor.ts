// The checks of the installation, seen from the running hub, and repairs that are safe.

import { createHash } from "node:crypto";
import { examine, type CheckResult, type Examined } from "../../../doctor/checks.ts";
import { findRepairs, repairAll } from "../../../doctor/repairs.ts";
import { HubError } from "../../../errors.ts";
import type { DoctorCheck, DoctorReport } from "../../schemas/doctor.ts";
import type { Managed } from "../core.ts";
import type { ServerCommands } from "./servers.ts";

export class DoctorCommands {
  readonly #managed: Managed;
  readonly #servers: ServerCommands;

  constructor(managed: Managed, servers: ServerCommands) {
    this.#managed = managed;
    this.#servers = servers;
  }

  async report(address: string): Promise<DoctorReport> {
    const examined = this.#examined(address);
    const repairs = await findRepairs(examined);
    const checks = await examine(examined, repairs);
    return {
      checks: [...checks.map((check) => toCheck(check, false)), ...repairs.map((check) => toCheck(check, true))],
    };
  }

  /** Runs the repairs of some checks; the report is about what is left. */
  async fix(ids: readonly string[], address: string): Promise<DoctorReport> {
    const examined = this.#examined(address);
    const known = new Set((await findRepairs(examined)).map(idOf));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) {
      throw new HubError("InvalidArgument", `There is nothing to repair for ${JSON.stringify(unknown)}`, {
        field: "checks",
        hint: "GET /doctor lists what can be repaired",
      });
    }
    const { fixed, failed } = await repairAll(examined, (repair) => ids.includes(idOf(repair)));
    const { checks } = await this.report(address);
    return { checks, fixed: fixed.map(({ message }) => message), failed: failed.map(({ message }) => message) };
  }

  #examined(url: string): Examined {
    const { user, paths } = this.#managed;
    const listServers = () => this.#servers.list({ view: "summary" });
    return { user, folders: paths, hub: () => Promise.resolve({ url, listServers }) };
  }
}

function toCheck(check: CheckResult, fixable: boolean): DoctorCheck {
  const { section, name, state: status, message, fix } = check;
  return { id: idOf(check), section, name, status, message, fix: fix ?? null, fixable };
}

/** The same for the same finding, also in the next report. */
function idOf({ section, name, message }: CheckResult): string {
  return createHash("sha256")
    .update(JSON.stringify([section, name, message]))
    .digest("hex")
    .slice(0, 16);
}
