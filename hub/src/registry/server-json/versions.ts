// The exact version of a package. A registry's servers are added in a version that stays what it was when someone looked at it.

import { isExactVersion } from "../../config/parse/source.ts";
import { isPlaceholder } from "../../entry-input/placeholder.ts";
import { unusable } from "./fields.ts";
import type { PackageOffer } from "../model.ts";

export const TEMPLATE = /\$\{|\{\{|<<|\$[A-Z_]+|[<>]/;
const NPM_VERSION = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?$/;
const PYPI_VERSION = /^\d[0-9A-Za-z.+!-]{0,100}$/;
const DIGEST = /@sha256:[0-9a-f]{64}$/;

interface Identifier {
  readonly identifier: string;
  readonly warnings: readonly string[];
}

/** Throws if there is no exact version. */
export function identifierOf(
  kind: PackageOffer["kind"],
  name: string,
  version: string | undefined,
  serverVersion: string | undefined,
): Identifier {
  for (const text of [name, version ?? ""]) {
    if (TEMPLATE.test(text) || (text !== "" && isPlaceholder(text))) {
      throw unusable(`${JSON.stringify(text.slice(0, 80))} is a placeholder that its author did not fill in`);
    }
  }
  if (kind === "oci") return imageOf(name, version);
  const [bare, own] = splitVersion(kind, name);
  const wanted = version ?? own;
  if (own !== undefined && version !== undefined && own !== version) {
    throw unusable(`Its identifier says version ${own}, and its version ${version}`);
  }
  const used = wanted ?? serverVersion;
  if (used === undefined) throw unusable("It has no version");
  if (wanted === undefined && TEMPLATE.test(used)) throw unusable("It has no version");
  const grammar = kind === "npm" ? NPM_VERSION : PYPI_VERSION;
  if (!grammar.test(used) || !isExactVersion(used))
    throw unusable(`${JSON.stringify(used.slice(0, 40))} is not an exact version`);
  const warnings = wanted === undefined ? [`The package does not say its version: ${used} is that of the server`] : [];
  return { identifier: kind === "npm" ? `${bare}@${used}` : `${bare}==${used}`, warnings };
}

function splitVersion(kind: "npm" | "pypi", name: string): [name: string, version: string | undefined] {
  const at = kind === "npm" ? name.lastIndexOf("@") : name.search(/==|@/);
  if (at <= 0) return [name, undefined];
  return [name.slice(0, at), name.slice(at).replace(/^(?:==|@)/, "")];
}

/** An image with a digest, or a tag that looks like a version. */
function imageOf(name: string, version: string | undefined): Identifier {
  const image = name.replace(/^(?:docker:\/\/|oci:\/\/|https:\/\/)/, "");
  if (DIGEST.test(image)) return { identifier: image, warnings: [] };
  const tag = /:([^:/@]+)$/.exec(image)?.[1];
  const used = tag ?? version;
  if (used === undefined) throw unusable("It has no version");
  if (/^sha256:[0-9a-f]{64}$/.test(used)) return { identifier: `${image}@${used}`, warnings: [] };
  if (!isExactVersion(used)) {
    throw unusable(`The tag ${JSON.stringify(used.slice(0, 40))} of its image moves: an exact version is needed`);
  }
  return { identifier: tag === undefined ? `${image}:${used}` : image, warnings: [] };
}
