// Port: where the requests of a legacy session are served when several hubs share their sessions. Implemented by cluster/.

import type { Exposure } from "../catalog/group.ts";
import type { HubError } from "../errors.ts";
import type { WholeRequest } from "../protocol/serve/http-request.ts";
import type { HttpResponse } from "../protocol/serve/http-response.ts";
import type { Requester } from "../protocol/serve/service.ts";

/** Which of the hub's MCP edges: that of the clients, or that of the management API. */
export type McpEdge = "groups" | "api";

/** An endpoint for one kind of caller. */
export interface EndpointAddress {
  readonly edge: McpEdge;
  readonly group: string;
  readonly readOnly: boolean;
  readonly exposure: Exposure | undefined;
}

/** A request of a session that is not in this hub. Its caller is known, and may use the endpoint. */
export interface RoutedRequest {
  readonly session: string;
  readonly address: EndpointAddress;
  /** The name of the endpoint in the records of its sessions. */
  readonly endpoint: string;
  readonly request: WholeRequest;
  readonly response: HttpResponse;
  readonly requester: Requester | undefined;
  /** Serves it here. A session that has no record is unknown. */
  serve(): void;
  fail(error: HubError): void;
}

export interface SessionRouting {
  route(request: RoutedRequest): void;
}

/** A request of a session that another hub has forwarded to this one. */
export type PeerRequest = Pick<RoutedRequest, "session" | "address" | "request" | "response" | "requester">;
