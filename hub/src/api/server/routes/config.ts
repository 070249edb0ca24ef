// The whole config.

import * as z from "zod/mini";
import type { ConfigFileCommands } from "../commands/config-files.ts";
import type { ConfigCommands } from "../commands/config.ts";
import { routesOf, type Route } from "../route.ts";
import { configFile, configFileInput, fileParam, replaceQuery } from "../../schemas/config-file.ts";
import { config, configChanges, configCheck, configDocument } from "../../schemas/config.ts";

const { get, post, put } = routesOf("config");

export function configRoutes(commands: ConfigCommands, files: ConfigFileCommands): Route[] {
  return [
    get("/config", "getConfig", "The active config and its revision; secrets are shown as ***", {
      answer: config,
      versioned: true,
      run: () => commands.show(),
    }),
    get("/config/export", "exportConfig", "The config as a file to keep or share; secrets are shown as ***", {
      answer: configDocument,
      versioned: true,
      run: ({ setHeader }) => {
        setHeader("content-disposition", 'attachment; filename="plugboard.json"');
        return commands.export();
      },
    }),
    post("/config/validate", "validateConfig", "Validate a config without saving it", {
      body: z.looseObject({ mcpServers: z.optional(z.unknown()), groups: z.optional(z.unknown()) }),
      answer: configCheck,
      run: ({ body }) => commands.validate(body),
    }),
    post("/config/reload", "reloadConfig", "Reload the config files now", {
      answer: configChanges,
      run: ({ edit }) => commands.reload(edit),
    }),
    get("/config/files/{file}", "getConfigFile", "The text of a config file; secrets are shown as ***", {
      params: fileParam,
      answer: configFile,
      versioned: true,
      run: ({ params }) => files.read(params.file),
    }),
    put("/config/files/{file}", "replaceConfigFile", "Replace the text of a config file; *** keeps the stored secret", {
      params: fileParam,
      query: replaceQuery,
      body: configFileInput,
      answer: configFile,
      versioned: true,
      run: ({ params, query, body, edit }) =>
        query.only === "validate"
          ? files.validate(params.file, body.text, edit)
          : files.replace(params.file, body.text, edit),
    }),
  ];
}
