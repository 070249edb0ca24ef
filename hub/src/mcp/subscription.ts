// One resource that one client watches: follows it to the server that owns it now, and gives its updates the URI that the
// client knows. Who the client is, and how it is told, is left to subscriptions.ts.

import type { Group } from "../catalog/group.ts";
import type { OwnedUri } from "../catalog/uris.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { META } from "../wire/era.ts";
import { editObject, isObject } from "../wire/json.ts";
import { rawParams, type RawParams, type Reply } from "../wire/jsonrpc.ts";

export interface SubscriptionOptions {
  /** As the client knows it. */
  readonly uri: string;
  readonly owner: OwnedUri;
  readonly supervisor: Supervisor;
  readonly onUpdate: (params: RawParams) => void;
}

export class Subscription {
  readonly uri: string;
  /** The server's answer. Rejects where it cannot be asked. */
  readonly opened: Promise<Reply>;
  readonly #supervisor: Supervisor;
  readonly #onUpdate: (params: RawParams) => void;
  /** Undefined while nobody has it, and after the end. */
  #owner: OwnedUri | undefined;
  #release: (() => void) | undefined;
  #isClosed = false;

  constructor({ uri, owner, supervisor, onUpdate }: SubscriptionOptions) {
    this.uri = uri;
    this.#supervisor = supervisor;
    this.#onUpdate = onUpdate;
    this.opened = this.#watch(owner);
  }

  get isOpen(): boolean {
    return this.#release !== undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#leave();
  }

  /** The catalog was replaced. Where another server has the resource now, that is what the client should hear of. */
  follow(group: Group | undefined): void {
    if (this.#isClosed) return;
    const held = this.#owner;
    const owner = group?.findResourceOwner(this.uri);
    // What a server does not list has no owner by the catalog, and may still be its own.
    const stays = owner === undefined ? held !== undefined && group?.servers.includes(held.server) : same(owner, held);
    if (stays === true) return;
    this.#leave();
    if (owner === undefined) return;
    const tell = (reply: Reply) => {
      if (reply.ok && this.#owner === owner) this.#update(rawParams({ uri: owner.uri }), owner);
    };
    void this.#watch(owner).then(tell, () => undefined); // tried again with the next catalog
  }

  async #watch(owner: OwnedUri): Promise<Reply> {
    this.#owner = owner;
    try {
      const server = this.#supervisor.answering(owner.server);
      const { reply, release } = await server.watch(owner.uri, (params) => this.#update(params, owner));
      if (this.#owner !== owner) release();
      else if (reply.ok) this.#release = release;
      else this.#owner = undefined;
      return reply;
    } catch (error) {
      if (this.#owner === owner) this.#owner = undefined;
      throw error;
    }
  }

  #leave(): void {
    this.#owner = undefined;
    this.#release?.();
    this.#release = undefined;
  }

  #update(params: RawParams, owner: OwnedUri): void {
    if (this.#owner !== owner) return;
    // What the client knows is the server's own URI, if need be behind a prefix.
    this.#onUpdate(exposed(params, this.uri.slice(0, this.uri.length - owner.uri.length)));
  }
}

function same(owner: OwnedUri, held: OwnedUri | undefined): boolean {
  return owner.server === held?.server && owner.uri === held.uri;
}

/** The server's words, with the client's URI, and without the number of a subscription that is not the client's. */
function exposed(params: RawParams, prefix: string): RawParams {
  const { uri, _meta: meta } = params.value;
  const changes: Record<string, unknown> = {};
  if (prefix !== "") changes["uri"] = prefix + String(uri);
  if (isObject(meta) && Object.hasOwn(meta, META.subscriptionId)) {
    const { [META.subscriptionId]: _, ...rest } = meta;
    changes["_meta"] = Object.keys(rest).length === 0 ? undefined : rest;
  }
  return edited(params, changes);
}

/** The params under the number of the client's own subscription. */
export function stamped(params: RawParams, subscriptionId: string | number): RawParams {
  const meta = params.value["_meta"];
  return edited(params, { _meta: { ...(isObject(meta) ? meta : {}), [META.subscriptionId]: subscriptionId } });
}

function edited(params: RawParams, changes: Readonly<Record<string, unknown>>): RawParams {
  const json = Object.entries(changes).map(([key, value]) => [key, JSON.stringify(value)]);
  if (json.length === 0) return params;
  return rawParams({ ...params.value, ...changes }, editObject(params.bytes, Object.fromEntries(json), params.members));
}
