// The config entry of a server from a registry, with values in place of its inputs. Secrets become references to the secret store:
// their values are never part of the entry.

import { DESCRIPTION_MAX } from "../../config/schema/limits.ts";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { HubError } from "../../errors.ts";
import type { Argument, Input, Offer, PackageOffer, RemoteOffer, Template } from "../model.ts";
import { requirePublicAddress } from "../server-json/address.ts";
import { shownLine } from "../server-json/fields.ts";
import { inputsIn, type GivenValue } from "./values.ts";

export interface EntrySource {
  readonly registry: string;
  readonly name: string;
  readonly version?: string | undefined;
}

export interface FillRequest {
  /** Of the entry. */
  readonly name: string;
  readonly description?: string | undefined;
  readonly source: EntrySource;
  readonly offer: Offer;
  /** By input; see `checkedValues`. */
  readonly values: ReadonlyMap<string, GivenValue>;
  /** The name under which the secret store keeps the value of a variable. */
  readonly secretName: (variable: string) => string;
  /** The values only stand for those of the user. */
  readonly isPreview?: boolean;
}

export interface FilledEntry {
  readonly entry: JsonObject;
  /** Secrets that the entry refers to and that are to be stored. */
  readonly secrets: ReadonlyMap<string, string>;
}

export function fillEntry(request: FillRequest): FilledEntry {
  const { name, offer, source, description } = request;
  const filling = new Filling(request);
  const launch = offer.kind === "remote" ? filling.remote(offer) : filling.package(offer);
  const { env } = filling;
  const about = shownLine(description, DESCRIPTION_MAX);
  const entry: JsonObject = {
    name,
    ...(about === undefined ? {} : { description: about }),
    ...launch,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    source: {
      registry: source.registry,
      name: source.name,
      ...(source.version === undefined ? {} : { version: source.version }),
    },
  };
  return { entry, secrets: filling.secrets };
}

class Filling {
  readonly env: JsonObject = {};
  readonly secrets = new Map<string, string>();
  readonly #request: FillRequest;
  readonly #inputs: ReadonlyMap<string, Input>;
  /** The variable that has the value of a secret input. */
  readonly #variables = new Map<string, string>();

  constructor(request: FillRequest) {
    this.#request = request;
    this.#inputs = new Map(request.offer.inputs.map((input) => [input.name, input]));
  }

  package(offer: PackageOffer): JsonObject {
    for (const { name, text } of offer.env) this.#setVariable(name, text);
    const runtime = offer.runtimeArguments.flatMap((argument) => this.#words(argument));
    const words = offer.packageArguments.flatMap((argument) => this.#words(argument));
    switch (offer.kind) {
      case "npm":
        return { command: "npx", args: ["-y", ...runtime, offer.identifier, ...words] };
      case "pypi": {
        // `uvx --from package[extra]==1.0 package`: the version stands in --from.
        const isFrom = offer.runtimeArguments.some(({ flag }) => flag === "--from");
        const program = isFrom ? offer.identifier.replace(/==.*$/s, "") : offer.identifier;
        return { command: "uvx", args: [...runtime, program, ...words] };
      }
      case "oci":
        return {
          command: "docker",
          args: ["run", "--rm", "-i", ...runtime, offer.identifier, ...words],
          ...(offer.hardened === true ? { hardened: true } : {}),
        };
    }
  }

  remote({ type, url, headers }: RemoteOffer): JsonObject {
    const address = this.#text(url) ?? "";
    // A value may be, or change, the host.
    if (this.#request.isPreview !== true) requirePublicAddress(address.replaceAll(/\$\{[A-Za-z0-9_]+\}/g, "secret"));
    const filled = headers.flatMap(({ name, text }) => {
      const value = this.#text(text);
      return value === undefined ? [] : [[name, value] as const];
    });
    return {
      type,
      url: address,
      ...(filled.length === 0 ? {} : { headers: Object.fromEntries(filled) }),
    };
  }

  /** A variable of the process. A secret that is only a part of its value is stored as the whole value. */
  #setVariable(name: string, text: Template): void {
    const secret = inputsIn(text).find((input) => this.#inputs.get(input)?.isSecret === true);
    if (secret === undefined) {
      const value = this.#plain(text);
      if (value !== undefined) this.env[name] = value;
      return;
    }
    const values = inputsIn(text).map((input) => this.#request.values.get(input));
    if (values.some((value) => value === undefined)) return;
    const isRequired = inputsIn(text).some((input) => this.#inputs.get(input)?.isRequired === true);
    this.env[name] = {
      secretRef: this.#store(name, secret, text),
      isSecret: true,
      ...(isRequired ? { required: true } : {}),
    };
    if (text.length === 1) this.#variables.set(secret, name);
  }

  #store(variable: string, input: string, text: Template): string {
    const value = this.#request.values.get(input);
    if (typeof value === "object") {
      if (text.length === 1) return value.secretRef;
      throw new HubError("InvalidConfig", `${input} is a part of the variable ${variable}: give its value`, {
        field: `values.${input}`,
      });
    }
    const stored = this.#request.secretName(variable);
    this.secrets.set(stored, this.#plain(text) ?? "");
    return stored;
  }

  #words({ flag, text, isSwitch, isList }: Argument): string[] {
    if (text === undefined) return flag === undefined ? [] : [flag];
    if (isSwitch === true && flag !== undefined) {
      const value = this.#text(text);
      return value === "true" || value === "" ? [flag] : [];
    }
    const values = isList === true ? this.#list(text) : [this.#text(text)];
    return values.flatMap((value) => {
      if (value === undefined) return [];
      if (flag === undefined) return [value];
      // As a word of its own, the value would be read as another option.
      return value.startsWith("-") && flag.startsWith("--") ? [`${flag}=${value}`] : [flag, value];
    });
  }

  /** One text for each value of its input. */
  #list(text: Template): string[] {
    const [input] = inputsIn(text);
    if (input === undefined) return [this.#text(text) ?? ""];
    const value = this.#request.values.get(input);
    if (typeof value !== "string" || this.#inputs.get(input)?.isSecret === true) {
      const whole = this.#text(text);
      return whole === undefined ? [] : [whole];
    }
    const items = value.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));
    return items.map((item) => text.map((piece) => (typeof piece === "string" ? piece : item)).join(""));
  }

  /** Undefined if an input of the text has no value: the argument or header is left out. */
  #text(text: Template): string | undefined {
    const pieces = text.map((piece) => {
      if (typeof piece === "string") return piece;
      const value = this.#request.values.get(piece.input);
      if (value === undefined || typeof value === "string") {
        return value === undefined || this.#inputs.get(piece.input)?.isSecret !== true
          ? value
          : this.#reference(piece.input);
      }
      return this.#reference(piece.input);
    });
    return pieces.includes(undefined) ? undefined : pieces.join("");
  }

  /** With the values of secrets, for the secret store. */
  #plain(text: Template): string | undefined {
    const pieces = text.map((piece) => {
      if (typeof piece === "string") return piece;
      const value = this.#request.values.get(piece.input);
      return typeof value === "string" ? value : undefined;
    });
    return pieces.includes(undefined) ? undefined : pieces.join("");
  }

  /** `${NAME}` of a variable of the entry, which has the secret. */
  #reference(input: string): string {
    const known = this.#variables.get(input);
    if (known !== undefined) return `\${${known}}`;
    const name = this.#unusedVariable(input);
    this.#variables.set(input, name);
    this.env[name] = {
      secretRef: this.#store(name, input, [{ input }]),
      isSecret: true,
      ...(this.#inputs.get(input)?.isRequired === true ? { required: true } : {}),
    };
    return `\${${name}}`;
  }

  #unusedVariable(input: string): string {
    const upper = input.toUpperCase().replaceAll(/[^A-Z0-9_]+/g, "_");
    const name = /^[A-Z_]/.test(upper) ? upper : `_${upper}`;
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? name : `${name}_${n}`;
      if (!Object.hasOwn(this.env, candidate)) return candidate;
    }
  }
}
