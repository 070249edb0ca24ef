// A package of `packages`: what to run, in which exact version, with which arguments and variables.

import { isIdentifier } from "../../config/schema/identifier.ts";
import { envName } from "../../config/schema/text.ts";
import { isPlaceholder } from "../../entry-input/placeholder.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { Argument, PackageOffer, Variable } from "../model.ts";
import { readArguments } from "./arguments.ts";
import { listOf, member, requireObject, textOf, unusable } from "./fields.ts";
import { Inputs, requireFixed } from "./inputs.ts";
import { runtimeArgumentsOf } from "./runtime-arguments.ts";
import { identifierOf } from "./versions.ts";

const VARIABLES_MAX = 100;

type Kind = PackageOffer["kind"];

const KINDS: Readonly<Partial<Record<string, Kind>>> = {
  npm: "npm",
  node: "npm",
  pypi: "pypi",
  pip: "pypi",
  python: "pypi",
  oci: "oci",
  docker: "oci",
  "docker-hub": "oci",
};

const REASONS: Readonly<Partial<Record<string, string>>> = {
  nuget: "The hub does not run NuGet packages",
  mcpb: "The hub does not run bundles (mcpb)",
  cargo: "The hub does not run Rust crates",
};

/** As the registry calls it; empty if it does not say so. */
export function kindNameOf(json: JsonObject): string {
  return (textOf(json, "registryType", "registryName", "registry", "type") ?? "").toLowerCase();
}

export function nameOf(json: JsonObject): string {
  return textOf(json, "identifier", "name") ?? "";
}

/** @param shared `environmentVariables` of the whole file, where some authors put them. */
export function readPackage(json: JsonObject, serverVersion: string | undefined, shared: JsonObject): PackageOffer {
  const kind = toKind(kindNameOf(json));
  requireStdio(json);
  const name = nameOf(json);
  if (name === "") throw unusable("It has no identifier");
  const inputs = new Inputs();
  const version = textOf(json, "version");
  const { identifier, warnings } = identifierOf(kind, name, version, serverVersion);
  if (!isIdentifier(kind === "oci" ? "docker" : kind, identifier)) {
    throw unusable(`${JSON.stringify(identifier.slice(0, 80))} is not a valid ${kind} package identifier`);
  }
  const env = readVariables(member(json, "environmentVariables") === undefined ? shared : json, inputs);
  const runtime = runtimeArgumentsOf(kind, identifier, readArguments(json, "runtimeArguments", inputs));
  const packageArguments = [...runtime.moved, ...readArguments(json, "packageArguments", inputs)];
  return {
    kind,
    identifier,
    runtimeArguments: runtime.kept,
    packageArguments,
    env: [...env, ...runtime.env],
    inputs: inputsUsed(inputs, [...runtime.kept, ...packageArguments], [...env, ...runtime.env]),
    warnings: [...warnings, ...runtime.warnings, ...inputs.warnings],
  };
}

function toKind(name: string): Kind {
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind !== undefined) return kind;
  const known = Object.hasOwn(REASONS, name) ? REASONS[name] : undefined;
  throw unusable(
    known ??
      (name === ""
        ? "It does not say which kind of package it is"
        : `The hub does not run packages of kind ${JSON.stringify(name.slice(0, 40))}`),
  );
}

/** A package that listens at a port would have to be started and found there. */
function requireStdio(json: JsonObject): void {
  const transport = member(json, "transport");
  if (transport === undefined) return;
  const type = typeof transport === "string" ? transport : textOf(requireObject(transport, "transport"), "type");
  if (type !== undefined && type.toLowerCase() !== "stdio") {
    throw unusable(`It listens at an address (${type.slice(0, 40)}), and the hub starts packages over stdio`);
  }
}

function readVariables(json: JsonObject, inputs: Inputs): Variable[] {
  const seen = new Set<string>();
  return listOf(json, "environmentVariables", VARIABLES_MAX).map((given, index) => {
    const definition = requireObject(given, `environmentVariables[${index}]`);
    const name = textOf(definition, "name") ?? "";
    if (!envName.safeParse(name).success || name === "" || isPlaceholder(name)) {
      throw unusable(`${JSON.stringify(name.slice(0, 40))} is not the name of an environment variable`);
    }
    requireFixed(name, "The name of a variable");
    if (seen.has(name)) throw unusable(`The variable ${name} is defined twice`);
    seen.add(name);
    return { name, text: inputs.template(definition, name) };
  });
}

/** Inputs of arguments that are left out are not asked for. */
function inputsUsed(inputs: Inputs, args: readonly Argument[], env: readonly Variable[]) {
  const used = new Set(
    [...args.map(({ text }) => text ?? []), ...env.map(({ text }) => text)]
      .flat()
      .flatMap((piece) => (typeof piece === "string" ? [] : [piece.input])),
  );
  return inputs.all.filter(({ name }) => used.has(name));
}
