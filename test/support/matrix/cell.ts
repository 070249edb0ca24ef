// One cell of the matrix: the eras of client and server, and their transports.

export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

export const TRANSPORTS = ["stdio", "http", "sse", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** A client that launches its server may get a bridge to a running hub. `ui`: the web interface, at the endpoint of one server. */
export type ClientTransport = Transport | "bridge" | "ui";

export interface Cell {
  readonly client: { readonly era: Era; readonly transport: ClientTransport };
  readonly server: { readonly era: Era; readonly transport: Transport };
}

/** Why a cell is empty: the protocol does not have the feature, or the hub does not have it yet. */
export type Gap = { readonly impossible: string } | { readonly missing: string };

const CLIENTS_ONLY = ["stdio", "bridge", "ui", "sse", "websocket"] as const;

/** Every transport on each side, with the most common one on the other side; in all four pairs of eras. */
export const CELLS: readonly Cell[] = ERAS.flatMap((client) =>
  ERAS.flatMap((server) => [
    ...TRANSPORTS.map((transport) => cell(client, "http", server, transport)),
    ...CLIENTS_ONLY.map((transport) => cell(client, transport, server, "stdio")),
  ]),
);

function cell(client: Era, clientTransport: ClientTransport, server: Era, serverTransport: Transport): Cell {
  return {
    client: { era: client, transport: clientTransport },
    server: { era: server, transport: serverTransport },
  };
}

export function nameOf({ client, server }: Cell): string {
  return `a ${client.era} client on ${client.transport}, a ${server.era} server on ${server.transport}`;
}

/** Limits of a transport itself, for all features. */
export function transportGap({ client, server }: Cell): Gap | undefined {
  const isTooOld = [client, server].some(({ era, transport }) => era === "modern" && transport === "sse");
  return isTooOld ? { impossible: "HTTP+SSE is the transport of 2024-11-05" } : undefined;
}
