// Packages in a folder of their own for a trial: nothing of it is left, and what servers run is not touched.

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Packages, type PackagesOptions } from "./packages.ts";

/** The folder has the pid in its name, so that the next hub removes what a killed one has left. */
export async function withPackagesAside<T>(
  options: PackagesOptions,
  use: (packages: Packages) => Promise<T>,
): Promise<T> {
  const folder = join(options.folder, "installs", `preview-${process.pid}-${randomBytes(4).toString("hex")}`);
  const packages = await Packages.open({ ...options, folder });
  try {
    return await use(packages);
  } finally {
    await packages.end();
    await packages.release();
    await rm(folder, { recursive: true, force: true }).catch(() => undefined); // the next hub removes it
  }
}
