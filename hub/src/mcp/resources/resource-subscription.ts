// One client's subscription to one resource: follows the resource to the server that owns it, and translates the URI in updates
// to the client's URI. resource-subscriptions.ts notifies the client.

import type { Group } from "../../catalog/group.ts";
import type { OwnedUri } from "../../catalog/uris.ts";
import type { Caller } from "../../servers/instances/caller.ts";
import type { Supervisor } from "../../servers/supervisor.ts";
import { META } from "../../protocol/revisions/era.ts";
import { editObject, isObject } from "../../lib/json/json.ts";
import { rawParams, type RawParams, type Reply } from "../../protocol/rpc/jsonrpc.ts";

export interface SubscriptionOptions {
  /** The client's URI. */
  readonly uri: string;
  readonly owner: OwnedUri;
  readonly caller: Caller;
  readonly supervisor: Supervisor;
  readonly onUpdate: (params: RawParams) => void;
}

export class ResourceSubscription {
  readonly uri: string;
  /** The server's reply. Rejects if the server is unavailable. */
  readonly opened: Promise<Reply>;
  readonly #caller: Caller;
  readonly #supervisor: Supervisor;
  readonly #onUpdate: (params: RawParams) => void;
  /** Undefined while no server has the resource, and after close(). */
  #owner: OwnedUri | undefined;
  /** Whether it belongs to the caller's own credentials at the server. */
  #isPerUser = false;
  #release: (() => void) | undefined;
  #isClosed = false;

  constructor({ uri, owner, caller, supervisor, onUpdate }: SubscriptionOptions) {
    this.uri = uri;
    this.#caller = caller;
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
    // A resource that a server does not list has no owner in the catalog, and may still be that server's.
    const isStill = held !== undefined && group?.servers.includes(held.server) === true;
    const owner = group?.findResourceOwner(this.uri) ?? (isStill ? held : undefined);
    if (owner !== undefined && same(owner, held) && this.#isPerUserAt(owner) === this.#isPerUser) return;
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
      this.#isPerUser = server.isPerUser;
      const onUpdate = (params: RawParams) => this.#update(params, owner);
      const { reply, release } = await server.watch({ uri: owner.uri, caller: this.#caller, onUpdate });
      if (this.#owner !== owner) release();
      else if (reply.ok) this.#release = release;
      else this.#owner = undefined;
      return reply;
    } catch (error) {
      if (this.#owner === owner) this.#owner = undefined;
      throw error;
    }
  }

  #isPerUserAt({ server }: OwnedUri): boolean {
    return this.#supervisor.has(server) && this.#supervisor.answering(server).isPerUser;
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
