// An address of `remotes`: URL and headers, with variables.

import { headerName } from "../../config/schema/text.ts";
import type { JsonObject } from "../../lib/json/json.ts";
import type { RemoteOffer, Template, Variable } from "../model.ts";
import { requirePublicAddress } from "./address.ts";
import { listOf, requireObject, textOf, unusable } from "./fields.ts";
import { Inputs } from "./inputs.ts";

const HEADERS_MAX = 50;
/** Headers that HTTP or MCP use themselves. */
const RESERVED = /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|mcp-.*)$/i;

export function readRemote(json: JsonObject): RemoteOffer {
  const type = typeOf(json);
  const given = textOf(json, "url");
  if (given === undefined) throw unusable("It has no address");
  const inputs = new Inputs();
  const url = inputs.fill(given, json, "url");
  requirePublicAddress(sample(url));
  const headers = listOf(json, "headers", HEADERS_MAX).map((header, index) => {
    const definition = requireObject(header, `headers[${index}]`);
    const name = textOf(definition, "name") ?? "";
    requireHeader(name);
    return { name, text: inputs.template(definition, name) };
  });
  requireDistinct(headers);
  const rest = /\{[^{}]*\}/.exec(
    given.replaceAll(/\{([^{}]*)\}/g, (all, name: string) => (isInput(inputs, name) ? "" : all)),
  );
  if (rest !== null) throw unusable(`Its address has ${rest[0]}, which it does not define`);
  return { kind: "remote", type, url, headers, inputs: inputs.all, warnings: inputs.warnings };
}

function isInput(inputs: Inputs, name: string): boolean {
  return inputs.all.some((input) => input.name === name);
}

export function requireHeader(name: string): void {
  if (name.length > 256 || !headerName.safeParse(name).success || name === "") {
    throw unusable(`${JSON.stringify(name.slice(0, 40))} is not the name of a header`);
  }
  if (RESERVED.test(name)) throw unusable(`The header ${name} belongs to the connection`);
}

function requireDistinct(headers: readonly Variable[]): void {
  const names = headers.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw unusable(`The header ${twice} is defined twice`);
}

/** The address with letters in place of its inputs. */
function sample(url: Template): string {
  // An input may be the whole host, which is checked when it has a value.
  return url.map((piece) => (typeof piece === "string" ? piece : "input.example")).join("");
}

function typeOf(json: JsonObject): "http" | "sse" {
  const type = (textOf(json, "type", "transportType", "transport") ?? "streamable-http").toLowerCase();
  if (type === "sse") return "sse";
  if (/^(?:streamable[-_]?http|http)$/.test(type)) return "http";
  throw unusable(`The hub does not speak ${JSON.stringify(type.slice(0, 40))}`);
}
