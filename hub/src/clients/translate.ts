// A client's server as an entry of our own config: its texts in our grammar, its literal credentials taken out and named.
// Pure: where the credentials go is left to whoever imports it. What has no counterpart here becomes a note; no note ever
// holds a value.

import { isCommonplace } from "../config/commonplace.ts";
import { isCredentialName, maskArgs, maskSecret, maskText, maskUrl } from "../config/mask.ts";
import type { JsonObject } from "../config/plain.ts";
import type { Surroundings } from "../config/system-folders.ts";
import type { Client } from "./client.ts";
import type { ForeignServer } from "./foreign.ts";
import { parseTemplate, type Part, type Places } from "./template.ts";

export interface Translated {
  readonly entry: JsonObject;
  /** Values that the entry refers to by these names, and that are to be stored. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Names of secrets that the entry refers to, and that only the client has. */
  readonly missing: readonly string[];
  readonly notes: readonly string[];
}

export interface TranslateOptions {
  readonly client: Client;
  /** What the server is called here. */
  readonly name: string;
  readonly surroundings: Surroundings;
  /** The folder that the file belongs to, where it belongs to one. */
  readonly workspace?: string | undefined;
  /** Literal credentials stay where they are. */
  readonly keepSecrets: boolean;
  /** Names of secrets that are taken. */
  readonly taken: ReadonlySet<string>;
}

export function translate(server: ForeignServer, options: TranslateOptions): Translated {
  return new Translation(options).run(server);
}

const SCHEME = /^((?:Bearer|Basic|Token) +)(.+)$/is;
const OURS = /\$\{[A-Za-z_][A-Za-z0-9_]*(?:\}|:-[^}]*(?:\}|$))/;

class Translation {
  readonly #options: TranslateOptions;
  readonly #places: Places;
  readonly #secrets = new Map<string, string>();
  readonly #missing = new Set<string>();
  readonly #notes = new Set<string>();
  /** What the entry grants by name. */
  readonly #env: JsonObject = {};

  constructor(options: TranslateOptions) {
    this.#options = options;
    const { home, platform } = options.surroundings;
    this.#places = { home, workspace: options.workspace, separator: platform === "win32" ? "\\" : "/" };
  }

  run(server: ForeignServer): Translated {
    const way = server.url === undefined ? this.#program(server) : this.#remote(server, server.url);
    const { startMs, requestMs } = server;
    const { client } = this.#options;
    for (const member of server.dropped) this.#notes.add(`"${member}" of ${client.name} has no counterpart here`);
    const timeouts = {
      ...(startMs === undefined ? {} : { start_ms: startMs }),
      ...(requestMs === undefined ? {} : { request_ms: requestMs }),
    };
    const entry: JsonObject = {
      ...way,
      ...(Object.keys(this.#env).length === 0 ? {} : { env: this.#env }),
      ...(server.description === undefined ? {} : { description: server.description }),
      ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
      ...(server.enabled ? {} : { enabled: false }),
      source: client.id,
    };
    return { entry, secrets: this.#secrets, missing: [...this.#missing], notes: [...this.#notes] };
  }

  #program({ command, args, env, inherited, kept, cwd, type }: ForeignServer): JsonObject {
    for (const name of inherited) this.#env[name] = `\${${name}}`;
    for (const name of kept) this.#env[name] = this.#needs(name);
    for (const [name, text] of Object.entries(env)) this.#env[name] = this.#variable(name, text);
    const words = this.#args(command ?? "", args);
    const folder = cwd === undefined ? this.#options.workspace : this.#now(cwd, "cwd");
    return {
      ...(command === undefined ? (type === undefined ? {} : { type }) : { command: this.#now(command, "command") }),
      ...(words.length === 0 ? {} : { args: words }),
      ...(folder === undefined ? {} : { cwd: folder }),
    };
  }

  #remote({ command, type, headers, headerVariables, bearer, ...more }: ForeignServer, address: string): JsonObject {
    const translated: JsonObject = {};
    for (const [name, text] of Object.entries(headers)) translated[name] = this.#header(name, text);
    for (const [name, variable] of Object.entries(headerVariables)) translated[name] = `\${${variable}}`;
    if (bearer !== undefined) translated["Authorization"] ??= `Bearer \${${bearer}}`;
    for (const name of more.inherited) this.#env[name] = `\${${name}}`;
    for (const [name, text] of Object.entries(more.env)) this.#env[name] ??= this.#variable(name, text);
    return {
      // Both is a mistake that our own rules name.
      ...(command === undefined ? {} : { command }),
      ...(type === undefined ? {} : { type }),
      url: this.#url(address),
      ...(Object.keys(translated).length === 0 ? {} : { headers: translated }),
    };
  }

  /** A variable of the server: a text, or a reference to a secret. */
  #variable(name: string, text: string): string | JsonObject {
    const parts = this.#read(text, `env.${name}`);
    const [first] = parts;
    if (first !== undefined && parts.length === 1 && "secret" in first) return this.#needs(first.secret);
    if (parts.some((part) => "secret" in part)) {
      // A variable is a secret as a whole, or none.
      const secret = this.#nameFor(name);
      this.#missing.add(secret);
      return { secretRef: secret };
    }
    const written = write(parts);
    const isLiteral = parts.every((part) => "text" in part);
    if (isLiteral && written !== "" && isSecretText(name, written) && !this.#options.keepSecrets)
      return { secretRef: this.#store(name, written) };
    return written;
  }

  #header(name: string, text: string): string {
    const parts = this.#read(text, `headers.${name}`);
    const isLiteral = parts.every((part) => "text" in part);
    const written = write(parts, (secret) => this.#grant(toVariableName(secret), this.#needs(secret)));
    const isSecret = isCredentialName(name) ? isHidden(written) : !isCommonplace(written);
    if (!isLiteral || !isSecret || this.#options.keepSecrets) return written;
    const [, scheme = "", rest = written] = SCHEME.exec(written) ?? [];
    const variable = toVariableName(name);
    return scheme + this.#grant(variable, { secretRef: this.#store(variable, rest) });
  }

  #url(text: string): string {
    const parts = this.#read(text, "url");
    const written = write(parts, (secret) => this.#grant(toVariableName(secret), this.#needs(secret)));
    if (this.#options.keepSecrets) return written;
    return maskUrl(written, (secret) => {
      const variable = this.#free("URL_SECRET");
      return this.#grant(variable, { secretRef: this.#store(variable, secret) });
    });
  }

  /** Arguments can be seen by everyone on the machine, so no secret is ever filled into them. */
  #args(command: string, args: readonly string[]): string[] {
    const words = this.#moved(command, args).map((arg, index) =>
      write(this.#read(arg, `args.${index}`), (secret) => {
        const variable = toVariableName(secret);
        this.#notes.add(`an argument needs ${variable}, to be set in the hub's environment`);
        return `\${${variable}}`;
      }),
    );
    const isPlain = maskArgs(words, () => "").some((word, index) => word !== words[index]);
    if (isPlain) this.#notes.add("a credential among its arguments stays there, as plain text");
    return words;
  }

  /** `docker run -e NAME=value` can take the value from a variable of the server just as well. */
  #moved(command: string, args: readonly string[]): string[] {
    if (this.#options.keepSecrets || !/(?:^|[\\/])(?:docker|podman)(?:\.exe)?$/.test(command)) return [...args];
    const kept: string[] = [];
    for (const [index, arg] of args.entries()) {
      const [, name = "", value = ""] = /^([A-Z0-9_]+)=(.+)$/s.exec(arg) ?? [];
      const isVariable = /^(?:-e|--env)$/.test(args[index - 1] ?? "") && name !== "" && !Object.hasOwn(this.#env, name);
      const given = isVariable && isSecretText(name, value) ? this.#variable(name, value) : undefined;
      if (given === undefined) kept.push(arg);
      else {
        this.#env[name] = given;
        kept.pop();
      }
    }
    return kept;
  }

  /** The hub fills nothing into a program's name or folder: what is known now is written down. */
  #now(text: string, field: string): string {
    const { env } = this.#options.surroundings;
    return this.#read(text, field)
      .map((part) => {
        if ("text" in part) return part.text;
        const value = "variable" in part ? env[part.variable] || part.fallback : undefined;
        if (value === undefined)
          this.#notes.add(`"${field}" refers to something that is not known here: ${write([part])}`);
        return value ?? write([part]);
      })
      .join("");
  }

  #read(text: string, field: string): readonly Part[] {
    const { client } = this.#options;
    const { parts, unknown } = parseTemplate(text, client.dialect, this.#places);
    for (const reference of unknown) this.#notes.add(`${reference} in ${field} means something to ${client.name} only`);
    // Our grammar has no way to say that it is meant as it stands.
    for (const part of parts)
      if ("text" in part && OURS.test(part.text))
        this.#notes.add(`\${…} in ${field} is plain text to ${client.name}, but will be filled in here`);
    return parts;
  }

  /** A secret that the client has and we do not. */
  #needs(secret: string): JsonObject {
    this.#missing.add(secret);
    return { secretRef: secret };
  }

  #grant(variable: string, entry: JsonObject): string {
    this.#env[variable] = entry;
    return `\${${variable}}`;
  }

  #store(variable: string, value: string): string {
    const secret = this.#nameFor(variable);
    this.#secrets.set(secret, value);
    return secret;
  }

  /** Never one that is there: it may be another server's. */
  #nameFor(variable: string): string {
    const { name, taken } = this.#options;
    const isTaken = (secret: string) => taken.has(secret) || this.#secrets.has(secret) || this.#missing.has(secret);
    return numbered(`${name}-${variable}`, isTaken);
  }

  #free(variable: string): string {
    return numbered(variable, (name) => Object.hasOwn(this.#env, name), "_");
  }
}

/** @example numbered("git", (name) => name === "git") // "git-2" */
export function numbered(name: string, isTaken: (name: string) => boolean, separator = "-"): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = `${name}${separator}${number}`;
  return free;
}

function write(parts: readonly Part[], secret: (name: string) => string = (name) => `\${${name}}`): string {
  return parts
    .map((part) => {
      if ("text" in part) return part.text;
      if ("secret" in part) return secret(part.secret);
      return part.fallback === undefined ? `\${${part.variable}}` : `\${${part.variable}:-${part.fallback}}`;
    })
    .join("");
}

function isSecretText(name: string, text: string): boolean {
  return isCredentialName(name) ? isHidden(text) : maskText(text, () => "") !== text;
}

function isHidden(text: string): boolean {
  return maskSecret(text, () => "") !== text;
}

/** @example toVariableName("figma-key") // "FIGMA_KEY" */
function toVariableName(text: string): string {
  const name = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}
