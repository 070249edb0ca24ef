// Servers: their config, and what they offer.

import * as z from "zod/mini";
import { component } from "../../schemas/docs.ts";
import type { TestOptions } from "../../../servers/supervisor.ts";
import type { ParseCommands } from "../commands/parsing.ts";
import type { ServerCommands } from "../commands/servers.ts";
import { withProgress, type Progress } from "../progress.ts";
import { BASE_PATH, idParam, routesOf, type Route } from "../route.ts";
import { parsed, parseInput } from "../../schemas/parse.ts";
import { view } from "../../schemas/query.ts";
import { server, serverEntry, testResult } from "../../schemas/server.ts";

const { get, post, put, patch, remove } = routesOf("servers");
const serverPatch = component("MCPServerPatch", z.looseObject({}));

export function serverRoutes(servers: ServerCommands, parsing: ParseCommands): Route[] {
  return [
    get("/servers", "listServers", "All servers (list_mcp_servers)", {
      query: z.strictObject({ view }),
      answer: z.array(server),
      versioned: true,
      run: ({ query }) => servers.list(query),
    }),
    post("/servers", "createServer", "Add a server and, if enabled, start it (create_mcp_server)", {
      body: serverEntry,
      status: 201,
      answer: server,
      versioned: true,
      run: async ({ body, edit, setHeader }) => {
        const created = await servers.create(body, edit);
        setHeader("location", `${BASE_PATH}/servers/${encodeURIComponent(created.config.name)}`);
        return created;
      },
    }),
    // Before /servers/{id}/…: a server may have the name "test".
    post("/servers/test", "testServer", "Test an entry without saving it (test_mcp_server)", {
      body: serverEntry,
      answer: testResult,
      progress: true,
      run: (call) => withProgress(call, (progress) => servers.test(call.body, toTestOptions(progress))),
    }),
    post("/servers/parse", "parseServers", "Read pasted text as server entries; saves nothing", {
      body: parseInput,
      answer: parsed,
      run: ({ body }) => parsing.parse(body.text),
    }),
    get("/servers/{id}", "getServer", "One server (get_mcp_server)", {
      params: idParam,
      query: z.strictObject({ view }),
      answer: server,
      versioned: true,
      run: ({ params, query }) => servers.get(params.id, query),
    }),
    put(
      "/servers/{id}",
      "updateServer",
      "Replace the entry of a server; *** keeps the stored value (update_mcp_server)",
      {
        params: idParam,
        body: serverEntry,
        answer: server,
        versioned: true,
        run: ({ params, body, edit }) => servers.update(params.id, body, edit),
      },
    ),
    patch("/servers/{id}", "patchServer", "Change members of the entry of a server (JSON Merge Patch)", {
      params: idParam,
      body: serverPatch,
      bodyType: "application/merge-patch+json",
      answer: server,
      versioned: true,
      run: ({ params, body, edit }) => servers.patch(params.id, body, edit),
    }),
    remove("/servers/{id}", "deleteServer", "Stop a server and remove it (delete_mcp_server)", {
      params: idParam,
      versioned: true,
      run: ({ params, edit }) => servers.delete(params.id, edit),
    }),
    post("/servers/{id}/test", "testSavedServer", "Test a saved server in a separate process or connection", {
      params: idParam,
      answer: testResult,
      progress: true,
      run: (call) => withProgress(call, (progress) => servers.testSaved(call.params.id, toTestOptions(progress))),
    }),
  ];
}

function toTestOptions(progress: Progress | undefined): TestOptions {
  if (progress === undefined) return {};
  return {
    onStatus: (status) => progress.onStatus(status),
    onLog: (text) => progress.onLog(text),
    signal: progress.signal,
  };
}
