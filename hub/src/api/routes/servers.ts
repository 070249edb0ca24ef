// Servers: the config of each, and what it offers.

import { z } from "@hono/zod-openapi";
import type { ServerCommands } from "../commands/servers.ts";
import { BASE_PATH, idParam, route, type Route } from "../route.ts";
import { view } from "../schemas/query.ts";
import { server, serverEntry, testResult } from "../schemas/server.ts";

const tag = "servers";
const patch = z.looseObject({}).openapi("MCPServerPatch");

export function serverRoutes(servers: ServerCommands): Route[] {
  return [
    route({
      method: "get",
      path: "/servers",
      tag,
      id: "listServers",
      summary: "All servers (list_mcp_servers)",
      query: z.strictObject({ view }),
      answer: z.array(server),
      versioned: true,
      run: ({ query }) => servers.list(query),
    }),
    route({
      method: "post",
      path: "/servers",
      tag,
      id: "createServer",
      summary: "Add a server, and start it if it is enabled (create_mcp_server)",
      body: serverEntry,
      status: 201,
      answer: server,
      versioned: true,
      keyed: true,
      run: async ({ body, edit, setHeader }) => {
        const created = await servers.create(body, edit);
        setHeader("location", `${BASE_PATH}/servers/${encodeURIComponent(created.config.name)}`);
        return created;
      },
    }),
    // Before /servers/{id}: a server may be called "test", but is not tested by POST.
    route({
      method: "post",
      path: "/servers/test",
      tag,
      id: "testServer",
      summary: "Try a server without saving it (test_mcp_server)",
      body: serverEntry,
      answer: testResult,
      run: ({ body }) => servers.test(body),
    }),
    route({
      method: "get",
      path: "/servers/{id}",
      tag,
      id: "getServer",
      summary: "One server (get_mcp_server)",
      params: idParam,
      answer: server,
      versioned: true,
      run: ({ params }) => servers.get(params.id),
    }),
    route({
      method: "put",
      path: "/servers/{id}",
      tag,
      id: "updateServer",
      summary: "Replace a server's entry; *** keeps the stored value (update_mcp_server)",
      params: idParam,
      body: serverEntry,
      answer: server,
      versioned: true,
      run: ({ params, body, edit }) => servers.update(params.id, body, edit),
    }),
    route({
      method: "patch",
      path: "/servers/{id}",
      tag,
      id: "patchServer",
      summary: "Change some members of a server's entry (JSON Merge Patch)",
      params: idParam,
      body: patch,
      bodyType: "application/merge-patch+json",
      answer: server,
      versioned: true,
      run: ({ params, body, edit }) => servers.patch(params.id, body, edit),
    }),
    route({
      method: "delete",
      path: "/servers/{id}",
      tag,
      id: "deleteServer",
      summary: "Stop a server and remove it (delete_mcp_server)",
      params: idParam,
      versioned: true,
      run: ({ params, edit }) => servers.delete(params.id, edit),
    }),
    route({
      method: "post",
      path: "/servers/{id}/test",
      tag,
      id: "testSavedServer",
      summary: "Try a saved server in a process of its own",
      params: idParam,
      answer: testResult,
      run: ({ params }) => servers.testSaved(params.id),
    }),
  ];
}
