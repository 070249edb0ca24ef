// The inputs of a server in Docker's catalogue: its secrets, and the parameters that `{{server.name}}` stands for.

import { referencesIn } from "../../config/parse/expand.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";
import type { Input, Template, Variable } from "../model.ts";
import {
  flagOf,
  listOf,
  member,
  requireObject,
  scalarText,
  shownLine,
  textOf,
  unusable,
} from "../server-json/fields.ts";
import { Inputs, requireFixed, requireInputName } from "../server-json/inputs.ts";
import { isCredentialName } from "../../redaction/mask.ts";
import { isPlaceholder } from "../../entry-input/placeholder.ts";

const SECRETS_MAX = 50;
const DEPTH_MAX = 5;
/** Folders of the authors' machines stand for those of the user. */
const SOMEONES_FOLDER = /^\/Users\/|^\/path\/to\//;

interface Secret {
  readonly env: string;
  readonly input: Input;
}

export class Parameters {
  readonly #server: string;
  readonly #schema: JsonObject;
  readonly #secrets: readonly Secret[];
  readonly #inputs = new Inputs();

  constructor(server: string, config: JsonObject, json: JsonObject) {
    this.#server = server;
    this.#schema = schemaOf(config, json);
    this.#secrets = secretsOf(config);
  }

  /** The inputs that some text uses. */
  get used(): Input[] {
    return this.#inputs.all;
  }

  get warnings(): string[] {
    return this.#inputs.warnings;
  }

  /** The secrets as variables of the container. */
  secretVariables(): Variable[] {
    return this.#secrets.map(({ env, input }) => {
      this.#inputs.add(input);
      return { name: env, text: [{ input: input.name }] };
    });
  }

  /** A header: `Bearer ${API_KEY}`, where API_KEY is one of the secrets. */
  secretTemplate(text: string, what: string): Template {
    if (/[\p{Cc}\p{Cs}]/u.test(text)) throw unusable(`${what} contains control characters`);
    const pieces = text.split(/(\$\{[A-Za-z0-9_]+\})/).filter((piece) => piece !== "");
    return pieces.map((piece) => {
      const name = /^\$\{([A-Za-z0-9_]+)\}$/.exec(piece)?.[1];
      if (name === undefined) {
        requireFixed(piece, what);
        return piece;
      }
      const secret = this.#secrets.find(({ env }) => env === name);
      if (secret === undefined) throw unusable(`${what} would read the variable ${name} of this machine`);
      // The address is of no use without it.
      this.#inputs.add({ ...secret.input, isRequired: true });
      return { input: secret.input.name };
    });
  }

  /** A variable without a value is an input of its own. */
  own(name: string, definition: JsonObject): Template {
    this.#inputs.add(toInput(name, definition, { isRequired: flagOf(definition, "required"), example: definition }));
    return [{ input: name }];
  }

  /** A text with `{{server.parameter}}`. */
  template(text: string, what: string, definition: JsonObject = {}): Template {
    const pieces = text.split(/(\{\{[^{}]{1,200}\}\})/).filter((piece) => piece !== "");
    return pieces.map((piece) => {
      if (!piece.startsWith("{{")) {
        requireFixed(piece, what);
        return piece;
      }
      return { input: this.#parameter(piece.slice(2, -2), what, definition) };
    });
  }

  /** The parameter of `{{server.paths|filter}}`, if the text is nothing else and has this filter. */
  listIn(text: string, filter: string): string | undefined {
    const inner = /^\{\{([^{}|]{1,200})((?:\|[a-z-]+)+)\}\}$/.exec(text);
    if (inner === null || !(inner[2] ?? "").split("|").includes(filter)) return undefined;
    return this.#parameter(inner[1] ?? "", text, {});
  }

  #parameter(expression: string, what: string, definition: JsonObject): string {
    const [path = "", ...filters] = expression.split("|").map((part) => part.trim());
    const unknown = filters.find((each) => !/^(?:or:.*|into|volume|volume-target|mount_as:.*)$/.test(each));
    if (unknown !== undefined) throw unusable(`${what} uses the filter ${JSON.stringify(unknown.slice(0, 40))}`);
    const prefix = `${this.#server}.`;
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : path.slice(path.indexOf(".") + 1);
    requireInputName(name);
    const { schema, isRequired } = find(this.#schema, name.split(".").slice(0, DEPTH_MAX));
    this.#inputs.add(toInput(name, schema, { isRequired, example: definition }));
    return name;
  }
}

/** Repositories have `parameters`; the published catalogue has `config` as a list of schemas. */
function schemaOf(config: JsonObject, json: JsonObject): JsonObject {
  const parameters = member(config, "parameters");
  if (isObject(parameters)) return parameters;
  if (member(config, "properties") !== undefined) return config;
  const list = member(json, "config");
  const [first] = Array.isArray(list) ? (list as readonly unknown[]) : [];
  return isObject(first) ? first : {};
}

/** A single secret is required unless it says otherwise; of several, some stand for each other. */
function secretsOf(config: JsonObject): Secret[] {
  const given = listOf(config, "secrets", SECRETS_MAX).map((secret, index) =>
    requireObject(secret, `secrets[${index}]`),
  );
  return given.map((secret) => {
    const env = textOf(secret, "env") ?? "";
    if (!/^[A-Za-z0-9_]{1,256}$/.test(env)) {
      throw unusable(`${JSON.stringify(env.slice(0, 40))} is not the name of an environment variable`);
    }
    const isRequired = member(secret, "required") === undefined ? given.length === 1 : flagOf(secret, "required");
    const input = toInput(env, secret, { isRequired, example: secret });
    const { default: _, ...rest } = input;
    return { env, input: { ...rest, isSecret: true } };
  });
}

function find(schema: JsonObject, path: readonly string[]): { schema: JsonObject; isRequired: boolean } {
  let [at, isRequired] = [schema, true];
  for (const step of path) {
    const required = member(at, "required");
    isRequired &&= Array.isArray(required) && required.includes(step);
    const properties = member(at, "properties");
    const next = isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : undefined;
    at = isObject(next) ? next : {};
  }
  return { schema: at, isRequired };
}

function toInput(
  name: string,
  schema: JsonObject,
  { isRequired, example }: { readonly isRequired: boolean; readonly example: JsonObject },
): Input {
  const description = shownLine(textOf(schema, "description", "title"), 1000);
  const placeholder = shownLine(scalarText(member(schema, "example") ?? member(example, "example")), 200);
  const choices = listOf(schema, "enum", 200).flatMap((choice) => scalarText(choice) ?? []);
  const type = textOf(schema, "type");
  const fallback = defaultOf(schema);
  const isPath = /(?:^|[._])(?:path|paths|dir|directory|folder)$/i.test(name);
  const isSecret = !isPath && isCredentialName(name);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    isRequired,
    isSecret,
    ...(fallback === undefined || isSecret ? {} : { default: fallback }),
    ...(choices.length === 0 ? {} : { choices }),
    format:
      type === "boolean"
        ? "boolean"
        : type === "integer" || type === "number"
          ? "number"
          : isPath
            ? "filepath"
            : "string",
    ...(placeholder === undefined ? {} : { placeholder }),
  };
}

function defaultOf(schema: JsonObject): string | undefined {
  const given = member(schema, "default");
  const text = Array.isArray(given) ? given.flatMap((each) => scalarText(each) ?? []).join(",") : scalarText(given);
  if (text === undefined || text === "" || text.length > 4096) return undefined;
  const isUsable = !isPlaceholder(text) && !SOMEONES_FOLDER.test(text) && referencesIn(text).length === 0;
  return isUsable && !/[\p{Cc}\p{Cs}]/u.test(text) ? text : undefined;
}
