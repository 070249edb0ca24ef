// What the client with an access token of the hub may see and do, by `access` in chat.json. What is outside does not exist for it.

import type { ChatConfigFile, TokenAccess } from "../config/schema.ts";
import { sourceNotFound } from "../errors.ts";
import type { ConfiguredSource, SourceView } from "../sources/sources.ts";
import type { SourceState } from "../model/source.ts";

/** Whom rules are for. */
export interface Holder {
  readonly name: string;
  readonly principal: string;
  readonly readOnly: boolean;
}

export interface TokenScope {
  /** Undefined: everything that is visible. */
  readonly sources: Exclude<TokenAccess, "all"> | undefined;
  readonly readOnly: boolean;
}

/** The most specific rule: of the token, of its holder, of all tokens. Undefined: it may see nothing. */
export function scopeOf(holder: Holder, access: ChatConfigFile["access"] = {}): TokenScope | undefined {
  const keys = [`token:${holder.name}`, holder.principal, "*"];
  const key = keys.find((each) => Object.hasOwn(access, each));
  const rule = key === undefined ? undefined : access[key];
  if (rule === undefined) return undefined;
  return { sources: rule === "all" ? undefined : rule, readOnly: holder.readOnly };
}

/** The sources that a token sees. */
export class ScopedSources implements SourceView {
  readonly #whole: SourceView;
  readonly #scope: TokenScope;

  constructor(whole: SourceView, scope: TokenScope) {
    this.#whole = whole;
    this.#scope = scope;
  }

  get ids(): readonly string[] {
    return this.all.map(({ source }) => source.id);
  }

  get all(): readonly ConfiguredSource[] {
    const { sources, readOnly } = this.#scope;
    return this.#whole.all.flatMap((configured) => {
      const rule = sources === undefined ? { send: true } : sources[configured.source.id];
      if (rule === undefined) return [];
      return rule.send && !readOnly ? [configured] : [{ source: configured.source }];
    });
  }

  /** Ids are case-insensitive. */
  get(id: string): ConfiguredSource {
    const { all } = this;
    const alike = all.filter(({ source }) => source.id.toLowerCase() === id.toLowerCase());
    const found = all.find(({ source }) => source.id === id) ?? (alike.length === 1 ? alike[0] : undefined);
    if (found === undefined) throw sourceNotFound(id, this.ids);
    return found;
  }

  state(id: string): SourceState {
    return this.#whole.state(id);
  }
}
