// The grammar of package identifiers for each package type. It rejects identifiers that npx, uvx or docker would read as
// an option or a path.

import { HubError } from "../../errors.ts";
import { quoted } from "../parse/error-path.ts";

export type PackageType = "npm" | "pypi" | "docker" | "binary" | "http";

const NPM_NAME = "(?:@[A-Za-z0-9~][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*";
const PYPI_VERSION = "[A-Za-z0-9][A-Za-z0-9.*+!_-]*";
const PYPI_CLAUSE = `(?:===|==|~=|>=|<=|!=|<|>)${PYPI_VERSION}`;
const IMAGE_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";

interface Grammar {
  readonly pattern: RegExp;
  readonly example: string;
}

const GRAMMARS: Readonly<Partial<Record<PackageType, Grammar>>> = {
  // name, name@1.2.3, @scope/name@latest
  npm: { pattern: new RegExp(`^${NPM_NAME}(?:@[A-Za-z0-9^~][A-Za-z0-9._+^~-]*)?$`), example: "@scope/name@1.2.3" },
  // name, name[extra], name==1.2, and name@1.2 as uvx takes it
  pypi: {
    pattern: new RegExp(
      `^[A-Za-z0-9][A-Za-z0-9._-]*(?:\\[[A-Za-z0-9._,-]+\\])?(?:@${PYPI_VERSION}|${PYPI_CLAUSE}(?:,${PYPI_CLAUSE})*)?$`,
    ),
    example: "name[extra]==1.2.3",
  },
  // host:port/path/name:tag@digest
  docker: {
    pattern: new RegExp(
      `^(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?${IMAGE_PART}(?:/${IMAGE_PART})*` +
        "(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,128})?$",
    ),
    example: "registry.example.com/team/image:tag",
  },
};

/** Throws if an identifier does not match the grammar of its type. Types binary and http are checked as command and url. */
export function requireIdentifier(type: PackageType, identifier: string): void {
  const grammar = GRAMMARS[type];
  if (grammar === undefined || isIdentifier(type, identifier)) return;
  throw new HubError("InvalidConfig", `${quoted(identifier)} is not a valid ${type} package identifier`, {
    field: "package.identifier",
    hint: `Example: ${grammar.example}. Put arguments in args`,
  });
}

/** Whether a text is a valid identifier of this type. */
export function isIdentifier(type: PackageType, text: string): boolean {
  return GRAMMARS[type]?.pattern.test(text) ?? true;
}
