// The part of the client about OAuth clients that use the hub.

import type { AccessRequestView, ClientGrant, ClientGrantInput, NewClientGrant } from "../schemas/oauth.ts";
import type { Connection } from "./connection.ts";

export class GrantsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** The valid ones. */
  list(): Promise<ClientGrant[]> {
    return this.#hub.request("/grants");
  }

  /** Gives a program credentials of its own. They are in the answer only. */
  create(input: ClientGrantInput): Promise<NewClientGrant> {
    return this.#hub.request("/grants", { method: "POST", body: input });
  }

  revoke(id: string): Promise<void> {
    return this.#hub.request(`/grants/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  /** What is asked for by the page that shows this code. */
  request(code: string): Promise<AccessRequestView> {
    return this.#hub.request(`/oauth/requests/${encodeURIComponent(code)}`);
  }

  /** Signs in the browser that shows the code. */
  approve(code: string): Promise<AccessRequestView> {
    return this.#hub.request(`/oauth/requests/${encodeURIComponent(code)}/approve`, { method: "POST" });
  }
}
