// Whether an installed package is still there as npm left it: every package that npm wrote down has its folder.

import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";

const hidden = z.looseObject({
  packages: z.record(z.string(), z.looseObject({ optional: z.optional(z.boolean()), link: z.optional(z.boolean()) })),
});

/** A tree may have more packages than the hub may open files. */
const AT_ONCE = 32;

export async function isIntact(folder: string): Promise<boolean> {
  try {
    const text = await readFile(join(folder, "node_modules", ".package-lock.json"), "utf8");
    const { packages } = hidden.parse(JSON.parse(text));
    // Optional ones may be for another system.
    const expected = Object.entries(packages).flatMap(([path, { optional, link }]) =>
      optional === true || link === true ? [] : [join(folder, path, "package.json")],
    );
    for (let at = 0; at < expected.length; at += AT_ONCE) {
      await Promise.all(expected.slice(at, at + AT_ONCE).map((path) => access(path)));
    }
    return expected.length > 0;
  } catch {
    return false;
  }
}
