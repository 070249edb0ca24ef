// One place of the matrix: which era the client speaks, which the server, and over what each of them does.

export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

export const TRANSPORTS = ["stdio", "http", "sse", "websocket"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Clients that launch their servers may get a bridge to a hub that runs. */
export type ClientTransport = Transport | "bridge";

export interface Cell {
  readonly client: { readonly era: Era; readonly transport: ClientTransport };
  readonly server: { readonly era: Era; readonly transport: Transport };
}

/** Why there is nothing to see in a cell: the protocol has no such thing, or the hub does not have it yet. */
export type Gap = { readonly impossible: string } | { readonly missing: string };

const CLIENTS_ONLY = ["stdio", "bridge", "sse", "websocket"] as const;

/** Every transport on each side, while the other side has the most common one; in all four pairs of eras. */
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

/** What is wrong with a transport itself, whatever is asked over it. */
export function transportGap({ client, server }: Cell): Gap | undefined {
  const isTooOld = [client, server].some(({ era, transport }) => era === "modern" && transport === "sse");
  return isTooOld ? { impossible: "HTTP+SSE is the transport of 2024-11-05" } : undefined;
}
