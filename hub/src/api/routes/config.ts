// The config as a whole.

import { z } from "@hono/zod-openapi";
import type { ConfigCommands } from "../commands/config.ts";
import { route, type Route } from "../route.ts";
import { config, configChanges, configCheck, configDocument } from "../schemas/config.ts";

const tag = "config";

export function configRoutes(commands: ConfigCommands): Route[] {
  return [
    route({
      method: "get",
      path: "/config",
      tag,
      id: "getConfig",
      summary: "The config in force and its revision; secrets are ***",
      answer: config,
      versioned: true,
      run: () => commands.show(),
    }),
    route({
      method: "get",
      path: "/config/export",
      tag,
      id: "exportConfig",
      summary: "The config as a file to keep or to give away; secrets are ***",
      answer: configDocument,
      versioned: true,
      run: ({ setHeader }) => {
        setHeader("content-disposition", 'attachment; filename="plugboard.json"');
        return commands.export();
      },
    }),
    route({
      method: "post",
      path: "/config/validate",
      tag,
      id: "validateConfig",
      summary: "Say what is wrong with a config, without saving it",
      body: z.looseObject({ mcpServers: z.unknown().optional(), groups: z.unknown().optional() }),
      answer: configCheck,
      run: ({ body }) => commands.validate(body),
    }),
    route({
      method: "post",
      path: "/config/reload",
      tag,
      id: "reloadConfig",
      summary: "Read the files again, now",
      answer: configChanges,
      run: () => commands.reload(),
    }),
  ];
}
