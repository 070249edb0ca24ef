// What a person has at the servers that need something of each person. No route returns a token or a secret.

import { connections, personalSecret, personalSecretInput, whoseQuery } from "../../schemas/connection.ts";
import type { ConnectionCommands } from "../commands/connections.ts";
import { nameParam, rightsOf, routesOf, type Route } from "../route.ts";

const { get, put, remove } = routesOf("connections");

export function connectionRoutes(commands: ConnectionCommands): Route[] {
  return [
    get(
      "/connections",
      "getConnections",
      "The logins and personal secrets of the caller, and what servers still need",
      {
        query: whoseQuery,
        answer: connections,
        run: (call) => commands.show(rightsOf(call), call.query.for),
      },
    ),
    put(
      "/connections/secrets/{name}",
      "setPersonalSecret",
      "Store a personal secret, which entries use as `${user:NAME}`; connections with the old value end",
      {
        params: nameParam,
        query: whoseQuery,
        body: personalSecretInput,
        answer: personalSecret,
        run: (call) => commands.setSecret(rightsOf(call), call.params.name, call.body.value, call.query.for),
      },
    ),
    remove("/connections/secrets/{name}", "deletePersonalSecret", "Delete a personal secret", {
      params: nameParam,
      query: whoseQuery,
      run: (call) => commands.deleteSecret(rightsOf(call), call.params.name, call.query.for),
    }),
  ];
}
