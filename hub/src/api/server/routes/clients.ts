// Other MCP clients on this machine.

import * as z from "zod/mini";
import {
  backup,
  client,
  clientChange,
  clientPlan,
  clientQuery,
  importInput,
  importPlan,
  importResult,
  installInput,
} from "../../schemas/client.ts";
import { describe } from "../../schemas/docs.ts";
import type { ClientCommands } from "../commands/clients.ts";
import type { ImportCommands } from "../commands/imports.ts";
import { routesOf, type Route } from "../route.ts";

const { get, post, remove } = routesOf("clients");
const clientParam = z.strictObject({ client: describe(z.string(), "Id of a client, such as `cursor`") });
const backupParam = z.strictObject({ id: z.string() });

export function clientRoutes(clients: ClientCommands, imports: ImportCommands): Route[] {
  return [
    get("/clients", "listClients", "MCP clients, and whether they use this hub", {
      query: clientQuery,
      answer: z.array(client),
      run: ({ query, url }) => clients.list({ ...query, address: addressOf(url) }),
    }),
    get("/clients/import", "planImport", "The servers of other clients, and whether the hub has them", {
      query: clientQuery,
      answer: importPlan,
      run: ({ query, url }) => imports.plan({ ...query, address: addressOf(url) }),
    }),
    post("/clients/import", "importServers", "Add servers of other clients; their credentials become secrets", {
      body: importInput,
      answer: importResult,
      run: ({ body, url, edit }) => imports.run(body, addressOf(url), edit),
    }),
    get("/clients/backups", "listClientBackups", "Files of clients as they were before the hub changed them", {
      answer: z.array(backup),
      run: () => clients.backups(),
    }),
    post(
      "/clients/backups/{id}/restore",
      "restoreClientBackup",
      "Restore a file; the current one is kept as a backup",
      {
        params: backupParam,
        answer: clientChange,
        run: ({ params }) => clients.restore(params.id),
      },
    ),
    post("/clients/{client}/plan", "planClientInstall", "What an install would change in the file of a client", {
      params: clientParam,
      body: installInput,
      answer: clientPlan,
      run: ({ params, body, url }) => clients.plan(params.client, body, addressOf(url)),
    }),
    post("/clients/{client}/install", "installClient", "Add the hub to the file of a client", {
      params: clientParam,
      body: installInput,
      answer: clientChange,
      run: ({ params, body, url }) => clients.install(params.client, body, addressOf(url)),
    }),
    remove("/clients/{client}/install", "uninstallClient", "Remove the hub from the file of a client", {
      params: clientParam,
      query: clientQuery,
      status: 200,
      answer: clientChange,
      run: ({ params, query, url }) => clients.uninstall(params.client, { ...query, address: addressOf(url) }),
    }),
  ];
}

/** Where this request has reached the hub. */
function addressOf(url: string): string {
  return new URL(url).origin;
}
