// Translates a client's server into an entry of the hub's config: references in the hub's syntax, literal credentials as named
// secrets. Pure: the caller stores the secrets. Features without an equivalent give a note. Notes never contain values.

import { isObject } from "../../lib/json/json.ts";
import { isCommonValue } from "../../redaction/entropy.ts";
import { isCredentialName, maskArgs, maskSecret, maskText, maskUrl } from "../../redaction/mask.ts";
import { referencesIn } from "../../config/parse/expand.ts";
import type { Json, JsonObject } from "../../config/parse/plain-object.ts";
import type { PlatformContext } from "../../config/files/system-folders.ts";
import type { Client } from "../client.ts";
import type { ForeignServer } from "./foreign.ts";
import { parseTemplate, type Part, type TemplateContext } from "./template.ts";

export interface Translated {
  readonly entry: JsonObject;
  /** Secrets to store, by the names that the entry refers to. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The tokens of the client's login, if it can be continued: `access`, `refresh`. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Secrets that the entry refers to and only the client has. */
  readonly missing: readonly string[];
  readonly notes: readonly string[];
}

export interface TranslateOptions {
  readonly client: Client;
  /** Name of the server in the hub. */
  readonly name: string;
  readonly context: PlatformContext;
  /** The project folder of the file, if it has one. */
  readonly workspace?: string | undefined;
  /** Leave literal credentials in the entry. */
  readonly keepSecrets: boolean;
  /** Names of existing secrets. */
  readonly taken: ReadonlySet<string>;
}

export function translate(server: ForeignServer, options: TranslateOptions): Translated {
  return new Translation(options).run(server);
}

const SCHEME = /^((?:Bearer|Basic|Token) +)(.+)$/is;
const HUB_REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*(?:\}|:-[^}]*(?:\}|$))/;

class Translation {
  readonly #options: TranslateOptions;
  readonly #templateContext: TemplateContext;
  readonly #secrets = new Map<string, string>();
  readonly #missing = new Set<string>();
  readonly #notes = new Set<string>();
  /** The env of the entry. */
  readonly #env: JsonObject = {};
  /** Whether mcp-remote expands the texts, too. */
  #isBridge = false;

  constructor(options: TranslateOptions) {
    this.#options = options;
    const { home, platform } = options.context;
    this.#templateContext = { home, workspace: options.workspace, separator: platform === "win32" ? "\\" : "/" };
  }

  run(server: ForeignServer): Translated {
    this.#isBridge = server.isBridge;
    for (const note of server.notes) this.#notes.add(note);
    const transport = server.url === undefined ? this.#program(server) : this.#remote(server, server.url);
    const { startMs, requestMs } = server;
    const { client } = this.#options;
    for (const member of server.dropped)
      this.#notes.add(`"${member}" of ${client.name} has no equivalent and is ignored`);
    const timeouts = {
      ...(startMs === undefined ? {} : { start_ms: startMs }),
      ...(requestMs === undefined ? {} : { request_ms: requestMs }),
    };
    const entry: JsonObject = {
      ...transport,
      ...(Object.keys(this.#env).length === 0 ? {} : { env: this.#env }),
      ...(server.description === undefined ? {} : { description: server.description }),
      ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
      ...(server.enabled ? {} : { enabled: false }),
      source: client.id,
    };
    return {
      entry,
      secrets: this.#secrets,
      tokens: new Map(entry["auth"] === undefined ? [] : Object.entries(server.tokens ?? {})),
      missing: [...this.#missing],
      notes: [...this.#notes],
    };
  }

  #program({ command, args, env, inherited, clientSecrets, cwd, type, auth }: ForeignServer): JsonObject {
    if (auth !== undefined) this.#notes.add("OAuth settings are for remote servers and are ignored");
    for (const name of inherited) this.#env[name] = `\${${name}}`;
    for (const name of clientSecrets) this.#env[name] = this.#missingSecret(name);
    for (const [name, text] of Object.entries(env)) this.#env[name] = this.#variable(name, text);
    const words = this.#args(command ?? "", args);
    const folder = cwd === undefined ? this.#options.workspace : this.#resolveNow(cwd, "cwd");
    return {
      ...(command === undefined
        ? type === undefined
          ? {}
          : { type }
        : { command: this.#resolveNow(command, "command") }),
      ...(words.length === 0 ? {} : { args: words }),
      ...(folder === undefined ? {} : { cwd: folder }),
    };
  }

  #remote({ command, type, headers, headerVariables, bearer, ...more }: ForeignServer, address: string): JsonObject {
    const translated: JsonObject = {};
    for (const [name, text] of Object.entries(headers)) translated[name] = this.#header(name, text);
    for (const [name, variable] of Object.entries(headerVariables)) translated[name] = `\${${variable}}`;
    if (bearer !== undefined) translated["Authorization"] ??= `Bearer \${${bearer}}`;
    const url = this.#url(address);
    const auth = more.auth === undefined ? undefined : this.#auth(more.auth, translated);
    for (const name of more.inherited) this.#env[name] = `\${${name}}`;
    const used = new Set(referencesIn(JSON.stringify([url, translated, auth ?? false])));
    for (const [name, text] of Object.entries(more.env)) {
      if (more.isBridge && !used.has(name)) this.#notes.add(`the variable ${name} of mcp-remote is ignored`);
      else this.#env[name] ??= this.#variable(name, text);
    }
    return {
      // An entry with both command and url is rejected by the hub's rules.
      ...(command === undefined ? {} : { command }),
      ...(type === undefined ? {} : { type }),
      url,
      ...(Object.keys(translated).length === 0 ? {} : { headers: translated }),
      ...(auth === undefined ? {} : { auth }),
    };
  }

  /** Clients send a configured Authorization header instead of an OAuth token. */
  #auth(auth: JsonObject | false, headers: JsonObject): JsonObject | false | undefined {
    if (hasAuthorization(headers)) {
      if (auth !== false) this.#notes.add("OAuth settings are ignored: the Authorization header is used");
      return undefined;
    }
    if (auth === false) return false;
    return Object.fromEntries(Object.entries(auth).map(([name, value]) => [name, this.#authValue(name, value)]));
  }

  #authValue(name: string, value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.#authValue(name, item));
    if (typeof value !== "string") return value;
    if (name === "client_secret") return this.#variable("CLIENT_SECRET", value, "auth.client_secret");
    return write(this.#read(value, `auth.${name}`), (secret) =>
      this.#addVariable(toVariableName(secret), this.#missingSecret(secret)),
    );
  }

  /** The value of a variable: a text, or a reference to a secret. */
  #variable(name: string, text: string, field = `env.${name}`): string | JsonObject {
    const parts = this.#read(text, field);
    const [first] = parts;
    if (first !== undefined && parts.length === 1 && "secret" in first) return this.#missingSecret(first.secret);
    if (parts.some((part) => "secret" in part)) {
      // A reference to a secret must be the whole value of a variable.
      const secret = this.#secretNameFor(name);
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
    const written = write(parts, (secret) => this.#addVariable(toVariableName(secret), this.#missingSecret(secret)));
    const isSecret = isCredentialName(name) ? isMasked(written) : !isCommonValue(written);
    if (!isLiteral || !isSecret || this.#options.keepSecrets) return written;
    const [, scheme = "", rest = written] = SCHEME.exec(written) ?? [];
    const variable = toVariableName(name);
    return scheme + this.#addVariable(variable, { secretRef: this.#store(variable, rest) });
  }

  #url(text: string): string {
    const parts = this.#read(text, "url");
    const written = write(parts, (secret) => this.#addVariable(toVariableName(secret), this.#missingSecret(secret)));
    if (this.#options.keepSecrets) return written;
    return maskUrl(written, (secret) => {
      const variable = this.#unusedVariable("URL_SECRET");
      return this.#addVariable(variable, { secretRef: this.#store(variable, secret) });
    });
  }

  /** All users of the machine can see arguments, so secrets are never expanded into them. */
  #args(command: string, args: readonly string[]): string[] {
    const words = this.#moveDockerVariables(command, args).map((arg, index) =>
      write(this.#read(arg, `args.${index}`), (secret) => {
        const variable = toVariableName(secret);
        this.#notes.add(`an argument needs the variable ${variable}: set it in the hub's environment`);
        return `\${${variable}}`;
      }),
    );
    const hasCredential = maskArgs(words, () => "").some((word, index) => word !== words[index]);
    if (hasCredential) this.#notes.add("its arguments contain a credential, which stays there as plain text");
    return words;
  }

  /** Moves credentials of `docker run -e NAME=value` into env, which docker inherits. */
  #moveDockerVariables(command: string, args: readonly string[]): string[] {
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

  /** Resolves references in command and cwd at import, if their values are known. */
  #resolveNow(text: string, field: string): string {
    const { env } = this.#options.context;
    return this.#read(text, field)
      .map((part) => {
        if ("text" in part) return part.text;
        const value = "variable" in part ? env[part.variable] || part.fallback : undefined;
        if (value === undefined)
          this.#notes.add(`"${field}" contains a reference that cannot be resolved: ${write([part])}`);
        return value ?? write([part]);
      })
      .join("");
  }

  #read(text: string, field: string): readonly Part[] {
    const { client } = this.#options;
    const template = parseTemplate(text, client.dialect, this.#templateContext);
    const { unknown } = template;
    const isExpanded = this.#isBridge && !field.startsWith("env.");
    const parts = isExpanded ? template.parts.flatMap((part) => this.#ofBridge(part)) : template.parts;
    for (const reference of unknown) this.#notes.add(`${reference} in ${field} works in ${client.name} only`);
    // The hub's syntax has no escape for a literal ${…}.
    for (const part of parts)
      if ("text" in part && HUB_REFERENCE.test(part.text))
        this.#notes.add(`\${…} in ${field} is plain text in ${client.name}, but the hub expands it`);
    return parts;
  }

  #ofBridge(part: Part): readonly Part[] {
    return "text" in part ? parseTemplate(part.text, "shell", this.#templateContext).parts : [part];
  }

  /** A reference to a secret that only the client has. */
  #missingSecret(secret: string): JsonObject {
    this.#missing.add(secret);
    return { secretRef: secret };
  }

  #addVariable(variable: string, entry: JsonObject): string {
    this.#env[variable] = entry;
    return `\${${variable}}`;
  }

  #store(variable: string, value: string): string {
    const secret = this.#secretNameFor(variable);
    this.#secrets.set(secret, value);
    return secret;
  }

  /** An unused name: an existing secret may belong to another server. */
  #secretNameFor(variable: string): string {
    const { name, taken } = this.#options;
    const isTaken = (secret: string) => taken.has(secret) || this.#secrets.has(secret) || this.#missing.has(secret);
    return numbered(`${name}-${variable}`, isTaken);
  }

  #unusedVariable(variable: string): string {
    return numbered(variable, (name) => Object.hasOwn(this.#env, name), "_");
  }
}

function hasAuthorization(headers: Json | undefined): boolean {
  return isObject(headers) && Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
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
  return isCredentialName(name) ? isMasked(text) : maskText(text, () => "") !== text;
}

function isMasked(text: string): boolean {
  return maskSecret(text, () => "") !== text;
}

/** @example toVariableName("figma-key") // "FIGMA_KEY" */
function toVariableName(text: string): string {
  const name = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}
