// The part of the client about chat servers.

import type { ChatAccess, ChatAccessInput } from "../schemas/chat.ts";
import type { Connection } from "./connection.ts";
import { serverPath } from "./request-parts.ts";

export class ChatsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  /** What agents may see and write to. */
  access(server: string): Promise<ChatAccess> {
    return this.#hub.request(`${serverPath(server)}/chat`);
  }

  changeAccess(server: string, input: ChatAccessInput): Promise<ChatAccess> {
    return this.#hub.request(`${serverPath(server)}/chat`, { method: "PATCH", body: input });
  }
}
