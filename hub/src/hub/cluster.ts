// A hub among others: the port at which they reach it, and the legacy sessions that they share.

import { PeerClient } from "../cluster/peer-client.ts";
import { PeerListener } from "../cluster/peer-listener.ts";
import { readPeerSettings } from "../cluster/peer-settings.ts";
import { ClusterSessions } from "../cluster/sessions.ts";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { ClusterDatabase } from "../database/open.ts";
import type { McpHttp } from "../mcp/http.ts";

export interface HubClusterOptions {
  readonly database: Pick<ClusterDatabase, "replica" | "replicas" | "sessions" | "peerKey">;
  readonly settings: Pick<HubSettingsEntry, "cluster">;
  /** The folder of hub.json. */
  readonly folder: string;
  /** The endpoints of this hub, by their edge. */
  readonly mcp: () => Readonly<Record<"groups" | "api", McpHttp>>;
}

export class HubCluster {
  readonly sessions: ClusterSessions;
  readonly #listener: PeerListener;
  readonly #client: PeerClient;

  private constructor(sessions: ClusterSessions, listener: PeerListener, client: PeerClient) {
    this.sessions = sessions;
    this.#listener = listener;
    this.#client = client;
  }

  /** Takes the name of this hub, which no other one may have, and tells the others where it is. */
  static async join({ database, settings, folder, mcp }: HubClusterOptions): Promise<HubCluster> {
    const { replica: name, replicas, sessions: store, peerKey: key } = database;
    const own = await readPeerSettings(settings, folder);
    await replicas.join(name);
    const client = new PeerClient({ key, ca: own.tls?.ca });
    const sessions = new ClusterSessions({
      name,
      store,
      forward: (peer, request) => client.forward(peer, request),
      isOwner: () => replicas.holds(name),
      local: () => ({
        hasSession: (id) => Object.values(mcp()).some((endpoints) => endpoints.hasSession(id)),
        endSession: (id) => Object.values(mcp()).forEach((endpoints) => endpoints.endSession(id)),
        serve: (request) => mcp()[request.address.edge].servePeer(request),
      }),
    });
    const onRequest = sessions.servePeer.bind(sessions);
    const listener = await PeerListener.open({ settings: own, name, key, onRequest });
    try {
      await replicas.announce(name, listener.url);
    } catch (error) {
      await listener.close();
      throw error;
    }
    return new HubCluster(sessions, listener, client);
  }

  /** Other hubs may go on with the sessions. */
  async close(): Promise<void> {
    this.#client.close();
    await this.sessions.close();
    await this.#listener.close();
  }
}
