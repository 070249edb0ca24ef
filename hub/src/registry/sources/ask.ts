// Asks a registry over HTTP. If it cannot be reached, its last answer to the same question counts, with its age.

import { HubError, toHubError } from "../../errors.ts";
import type { GuardedFetch } from "../../oauth/types.ts";
import type { Freshness } from "../model.ts";
import type { AnswerCache } from "./cache.ts";

/** An answer younger than this is not asked for again. */
const FRESH_MS = 5 * 60_000;
const TIMEOUT_MS = 8000;

export interface AskOptions {
  /** As the registry is called, for the cache and in errors. */
  readonly registry: string;
  readonly fetch: GuardedFetch;
  readonly cache: AnswerCache;
  /** Authorization, if the registry needs it. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly now: () => number;
}

export interface Answer extends Freshness {
  readonly text: string;
}

/** Throws ServerNotFound for 404. */
export class RegistryServer {
  readonly #options: AskOptions;

  constructor(options: AskOptions) {
    this.#options = options;
  }

  async ask(url: string, signal?: AbortSignal): Promise<Answer> {
    const { registry, cache, now } = this.#options;
    const known = await cache.get(registry, url);
    const age = known === undefined ? Infinity : now() - known.seenAt;
    if (known !== undefined && age >= 0 && age < FRESH_MS) return { text: known.text, seenAt: known.seenAt };
    try {
      const text = await this.#fetch(url, signal);
      const seenAt = now();
      await cache.set(registry, { url, seenAt, text });
      return { text, seenAt };
    } catch (thrown) {
      const error = toHubError(thrown);
      if (known === undefined || error.kind === "ServerNotFound" || error.kind === "Cancelled") throw error;
      return { text: known.text, seenAt: known.seenAt, problem: error.message };
    }
  }

  /** Everything that the registry has answered so far. */
  seen(): ReturnType<AnswerCache["all"]> {
    return this.#options.cache.all(this.#options.registry);
  }

  async #fetch(url: string, signal: AbortSignal | undefined): Promise<string> {
    const { fetch, headers, registry } = this.#options;
    const given = { accept: "application/json, application/yaml;q=0.9, */*;q=0.1", ...(await headers()) };
    const response = await fetch(url, { headers: given, signal, timeoutMs: TIMEOUT_MS });
    if (response.ok) return response.text();
    throw refusal(registry, response);
  }
}

function refusal(registry: string, response: Response): HubError {
  const { status } = response;
  if (status === 404) return new HubError("ServerNotFound", `${registry} has no such server`);
  if (status === 401 || status === 403) {
    return new HubError("Forbidden", `${registry} refuses the request (HTTP ${status})`, {
      hint: "Give the registry its key in hub.json",
    });
  }
  if (status === 429) {
    const after = response.headers.get("retry-after");
    const detail = after !== null && /^\d{1,6}$/.test(after) ? ` for ${after} s` : "";
    return new HubError("ConnectionFailed", `${registry} takes no more requests${detail} (HTTP 429)`);
  }
  return new HubError("ConnectionFailed", `${registry} answered with HTTP status ${status}`);
}

/** Throws ProtocolError for a text that is no JSON: truncated, or the page of a proxy. */
export function parseAnswer(registry: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new HubError("ProtocolError", `${registry} answered with something that is not JSON`);
  }
}
