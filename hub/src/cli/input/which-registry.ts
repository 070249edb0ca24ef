// Which registry a package name belongs to that does not say so: npm or the Python package index.

import { HubError } from "../../errors.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { canAsk, choose } from "../terminal/ask.ts";
import { Output } from "../terminal/output.ts";
import { waiting } from "../terminal/spinner.ts";
import type { Given } from "./given-target.ts";
import { findInRegistries } from "./registries.ts";
import { parseTarget } from "../../entry-input/target.ts";

/** Asks which registry is meant if both npm and the Python package index may have the package. */
export async function inItsRegistry(io: Io, given: Given, options: GlobalOptions): Promise<Given> {
  const { bare } = given;
  if (bare === undefined) return given;
  const out = new Output(io, options);
  const name = bare.replace(/@.*/s, "");
  const { npm, pypi } = await waiting(io, out, `looking for ${name}`, findInRegistries(name, io));
  // If the lookup at npm fails, the test that follows reports the reason.
  if (pypi !== true && npm !== false) return given;
  const forms = { npm: `npm:${bare}`, pypi: `uvx:${bare}` };
  if (npm === false && pypi !== true) {
    throw new HubError("PackageNotFound", "Package not found", {
      detail: `${name} is not on the npm registry${pypi === false ? ", nor on the Python package index" : ""}`,
      hint:
        pypi === false ? "Check the name" : `Check the name; for the Python package index: plugboard add ${forms.pypi}`,
    });
  }
  const ways = npm === false ? [forms.pypi] : [forms.npm, forms.pypi];
  const chosen = canAsk(io, options) ? await choose(io, questionOf(name, npm), ways) : undefined;
  if (chosen === undefined) {
    throw new HubError("InvalidArgument", `${questionOf(name, npm)}: choose one`, {
      field: "target",
      hint: ways.map((way) => given.again({ target: way })).join("\n"),
    });
  }
  const target = parseTarget(chosen, { args: given.args, cwd: process.cwd() });
  return { ...given, entry: target.entry, again: (change) => given.again({ target: chosen, ...change }) };
}

function questionOf(name: string, npm: boolean | undefined): string {
  return npm === false
    ? `${name} is not on the npm registry, but on the Python package index`
    : `${name} is on the npm registry and on the Python package index`;
}
