// One client's subscription to one resource: follows the resource to the server that owns it, and translates the URI in updates
// to the client's URI. resource-subscriptions.ts notifies the client.

import type { Group } from "../../catalog/group.ts";
import type { OwnedUri } from "../../catalog/uris.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import { META } from "../../protocol/revisions/era.ts";
import { editObject, isObject } from "../../lib/json/json.ts";
import { rawParams, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";

export interface SubscriptionOptions {
  /** The client's URI. */
  readonly uri: string;
  readonly owner: OwnedUri;
  readonly supervisor: Supervisor;
  readonly onUpdate: (params: RawParams) => void;
}

export class ResourceSubscription {
  readonly uri: string;
  /** The server's reply. Rejects if the server is unavailable. */
  readonly opened: Promise<Reply>;
  readonly #supervisor: Supervisor;
  readonly #onUpdate: (params: RawParams) => void;
  /** Undefined while no server has the resource, and after close(). */
  #owner: OwnedUri | undefined;
  #release: (() => void) | undefined;
  #isClosed = false;

  constructor({ uri, owner, supervisor, onUpdate }: SubscriptionOptions) {
    this.uri = uri;
    this.#supervisor = supervisor;
    this.#onUpdate = onUpdate;
    this.opened = this.#subscribe(owner);
  }

  get isOpen(): boolean {
    return this.#release !== undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
  }

  /** The catalog was replaced. If another server owns the resource now, subscribes there and notifies the client. */
  follow(group: Group | undefined): void {
    if (this.#isClosed) return;
    const held = this.#owner;
    const owner = group?.findResourceOwner(this.uri);
    // A resource that a server does not list has no owner in the catalog, and may still be that server's.
    const stays = owner === undefined ? held !== undefined && group?.servers.includes(held.server) : same(owner, held);
    if (stays === true) return;
    this.#unsubscribe();
    if (owner === undefined) return;
    const notify = (reply: Reply) => {
      if (reply.ok && this.#owner === owner) this.#update(rawParams({ uri: owner.uri }), owner);
    };
    void this.#subscribe(owner).then(notify, () => undefined); // retried with the next catalog
  }

  async #subscribe(owner: OwnedUri): Promise<Reply> {
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

  #unsubscribe(): void {
    this.#owner = undefined;
    this.#release?.();
    this.#release = undefined;
  }

  #update(params: RawParams, owner: OwnedUri): void {
    if (this.#owner !== owner) return;
    // The client's URI is the server's own, with a prefix if it was rewritten.
    this.#onUpdate(exposed(params, this.uri.slice(0, this.uri.length - owner.uri.length)));
  }
}

function same(owner: OwnedUri, held: OwnedUri | undefined): boolean {
  return owner.server === held?.server && owner.uri === held.uri;
}

/** The server's params with the client's URI and without the hub's own subscription id. */
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

/** The params with the id of the client's subscription. */
export function withSubscriptionId(params: RawParams, subscriptionId: string | number): RawParams {
  const meta = params.value["_meta"];
  return edited(params, { _meta: { ...(isObject(meta) ? meta : {}), [META.subscriptionId]: subscriptionId } });
}

function edited(params: RawParams, changes: Readonly<Record<string, unknown>>): RawParams {
  const json = Object.entries(changes).map(([key, value]) => [key, JSON.stringify(value)]);
  if (json.length === 0) return params;
  return rawParams({ ...params.value, ...changes }, editObject(params.bytes, Object.fromEntries(json), params.members));
}
