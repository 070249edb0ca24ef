// All routes of the API, from what they work with.

import { ConfigCommands } from "./commands/config.ts";
import { GroupCommands } from "./commands/groups.ts";
import { LifecycleCommands } from "./commands/lifecycle.ts";
import { SecretCommands } from "./commands/secrets.ts";
import { ServerCommands } from "./commands/servers.ts";
import { StatsCommands } from "./commands/stats.ts";
import { ToolCommands } from "./commands/tools.ts";
import type { Managed } from "./core.ts";
import type { EventStreams } from "./live/event-streams.ts";
import type { Route } from "./route.ts";
import { configRoutes } from "./routes/config.ts";
import { eventRoutes } from "./routes/events.ts";
import { groupRoutes } from "./routes/groups.ts";
import { lifecycleRoutes } from "./routes/lifecycle.ts";
import { recordRoutes } from "./routes/records.ts";
import { secretRoutes } from "./routes/secrets.ts";
import { serverRoutes } from "./routes/servers.ts";
import { statsRoutes } from "./routes/stats.ts";
import { statusRoutes } from "./routes/status.ts";
import { toolRoutes } from "./routes/tools.ts";

export function createRoutes(managed: Managed, streams: EventStreams): Route[] {
  const servers = new ServerCommands(managed);
  const stats = new StatsCommands(managed);
  return [
    ...statusRoutes(managed, streams),
    ...serverRoutes(servers),
    ...lifecycleRoutes(new LifecycleCommands(managed, servers)),
    ...toolRoutes(new ToolCommands(managed)),
    ...groupRoutes(new GroupCommands(managed)),
    ...secretRoutes(new SecretCommands(managed)),
    ...recordRoutes(managed, stats),
    ...statsRoutes(stats),
    ...configRoutes(new ConfigCommands(managed)),
    ...eventRoutes(managed.hub, streams),
  ];
}
