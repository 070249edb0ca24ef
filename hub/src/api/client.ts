// The management API for programs: one method for each thing that can be done with a running hub, with types. Failures
// are HubErrors of the same kind as inside the hub. It knows nothing of the server's side but its shapes.

import type { JsonObject } from "../wire/json.ts";
import { connectionOf, type Connection, type ConnectionOptions } from "./connection.ts";
import { readEvents, type ReceivedEvent } from "./received-events.ts";
import type { CallPage, LatencyMetrics } from "./schemas/call.ts";
import type { ConfigChangesView, ConfigCheck, ConfigDocument, ConfigView, Secret } from "./schemas/config.ts";
import type { GroupInput, GroupView } from "./schemas/group.ts";
import type { Logs, Server, TestResult } from "./schemas/server.ts";
import type { HubStatus } from "./schemas/status.ts";
import type { GroupTool, Tool, ToolCallResult } from "./schemas/tool.ts";
