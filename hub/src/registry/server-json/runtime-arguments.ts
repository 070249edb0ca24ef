// Arguments of npx, uvx and docker that a package asks for. Options that would run something else, or take the package from elsewhere,
// are refused.

import { isIdentifier } from "../../config/schema/identifier.ts";
import type { Argument, PackageOffer, Template, Variable } from "../model.ts";
import { unusable } from "./fields.ts";

interface RuntimeArguments {
  readonly kept: readonly Argument[];
  /** Words that belong behind the package. */
  readonly moved: readonly Argument[];
  /** What `-e NAME=value` says. */
  readonly env: readonly Variable[];
  readonly warnings: readonly string[];
}

export function runtimeArgumentsOf(
  kind: PackageOffer["kind"],
  identifier: string,
  given: readonly Argument[],
): RuntimeArguments {
  switch (kind) {
    case "npm":
      return forNpx(identifier, given);
    case "pypi":
      return forUvx(identifier, given);
    case "oci":
      return forDocker(identifier, given);
  }
}

/** Said by the hub in any case. */
const NPX_SWITCHES: ReadonlySet<string> = new Set([
  "-y",
  "--yes",
  "-q",
  "--quiet",
  "--prefer-offline",
  "--prefer-online",
]);

function forNpx(identifier: string, given: readonly Argument[]): RuntimeArguments {
  const name = withoutVersion(identifier, "@");
  const moved = given.filter((argument) => {
    const word = wordOf(argument);
    if (word === undefined) throw refused("npx", argument);
    if (NPX_SWITCHES.has(word) || withoutVersion(word, "@") === name) return false;
    if (word.startsWith("-")) throw refused("npx", argument);
    return true;
  });
  const warnings = moved.length === 0 ? [] : ["Its arguments of npx that are no options are passed to the package"];
  return { kept: [], moved, env: [], warnings };
}

const UVX_VALUES: ReadonlySet<string> = new Set(["--python", "-p", "--prerelease", "--with", "--from"]);

function forUvx(identifier: string, given: readonly Argument[]): RuntimeArguments {
  const [name = ""] = identifier.split("==");
  const kept: Argument[] = [];
  for (let index = 0; index < given.length; index++) {
    const argument = given[index];
    if (argument === undefined) continue;
    const word = wordOf(argument);
    if (word === name || word === identifier) continue;
    // A flag and its value may be two positional arguments.
    const flag = argument.flag ?? word;
    const value = argument.flag === undefined ? wordOf(given[++index]) : fixed(argument.text);
    if (flag === undefined || value === undefined || !UVX_VALUES.has(flag)) throw refused("uvx", argument);
    if (flag === "--from" && withoutExtras(value) !== name) throw refused("uvx", argument);
    if (/^(?:--from|--with)$/.test(flag) && !isIdentifier("pypi", value)) throw refused("uvx", argument);
    if (value.startsWith("-")) throw refused("uvx", argument);
    if (flag !== "--from") kept.push({ flag, text: [value] });
    else kept.push({ flag, text: [value.includes("=") ? value : identifier.replace(name, value)] });
  }
  return { kept, moved: [], env: [], warnings: [] };
}

/** Said by the hub in any case. */
const DOCKER_SWITCHES: ReadonlySet<string> = new Set(["-i", "--interactive", "--rm", "-t", "--tty", "-it", "--init"]);

function forDocker(identifier: string, given: readonly Argument[]): RuntimeArguments {
  const image = imageName(identifier);
  const kept: Argument[] = [];
  const env: Variable[] = [];
  for (let index = 0; index < given.length; index++) {
    const argument = given[index];
    if (argument === undefined) continue;
    const word = wordOf(argument);
    if ((word === "run" && index === 0) || (word !== undefined && imageName(word) === image)) continue;
    const flag = argument.flag ?? word;
    if (flag === undefined || !flag.startsWith("-")) throw refused("docker", argument);
    if (DOCKER_SWITCHES.has(flag)) continue;
    if (flag !== "-e" && flag !== "--env") {
      kept.push(argument);
      continue;
    }
    const text = argument.flag === undefined ? given[++index]?.text : argument.text;
    const variable = toVariable(text);
    // `-e NAME` passes on the variable NAME, which the hub does for all of them.
    if (variable !== undefined) env.push(variable);
  }
  return { kept, moved: [], env, warnings: [] };
}

function toVariable(text: Template | undefined): Variable | undefined {
  const [first, ...rest] = text ?? [];
  if (typeof first !== "string") throw unusable("An argument -e of docker does not say which variable it sets");
  const equals = first.indexOf("=");
  if (equals < 0) return undefined;
  const value = first.slice(equals + 1);
  const pieces = [...(value === "" && rest.length > 0 ? [] : [value]), ...rest];
  return { name: requireName(first.slice(0, equals)), text: pieces };
}

function requireName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)) return name;
  throw unusable(`${JSON.stringify(name.slice(0, 40))} is not the name of an environment variable`);
}

/** The one word of an argument that is fixed. */
function wordOf(argument: Argument | undefined): string | undefined {
  if (argument === undefined) return undefined;
  const { flag, text } = argument;
  if (flag === undefined) return fixed(text);
  const value = fixed(text);
  return text === undefined || value === "true" || value === "" ? flag : undefined;
}

function fixed(text: Template | undefined): string | undefined {
  const [only, ...rest] = text ?? [];
  return typeof only === "string" && rest.length === 0 ? only : undefined;
}

function withoutVersion(name: string, mark: string): string {
  const at = name.lastIndexOf(mark);
  return at > 0 ? name.slice(0, at) : name;
}

function withoutExtras(name: string): string {
  return name.replace(/(?:\[|==|@).*$/s, "");
}

function imageName(image: string): string {
  return image.replace(/@.*$/s, "").replace(/:[^:/]*$/, "");
}

function refused(program: string, argument: Argument): Error {
  const word = argument.flag ?? fixed(argument.text) ?? "an input";
  return unusable(
    `The argument ${JSON.stringify(word.slice(0, 60))} of ${program} is not allowed for servers of a registry`,
  );
}
