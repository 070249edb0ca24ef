// Secrets. No route gives a value back.

import { z } from "@hono/zod-openapi";
import type { SecretCommands } from "../commands/secrets.ts";
import { nameParam, route, type Route } from "../route.ts";
import { flag } from "../schemas/query.ts";
import { keyRotation, secret, secretInput } from "../schemas/config.ts";

const tag = "secrets";

export function secretRoutes(secrets: SecretCommands): Route[] {
  return [
    route({
      method: "get",
      path: "/secrets",
      tag,
      id: "listSecrets",
      summary: "The names of all secrets, and the servers that use them",
      answer: z.array(secret),
      run: () => secrets.list(),
    }),
    route({
      method: "post",
      path: "/secrets/rotate-key",
      tag,
      id: "rotateSecretKey",
      summary: "Encrypt all secrets with a new key; the old one opens nothing any more",
      answer: keyRotation,
      run: () => secrets.rotateKey(),
    }),
    route({
      method: "put",
      path: "/secrets/{name}",
      tag,
      id: "setSecret",
      summary: "Store a secret; servers that waited for it are started, others take it at their next start",
      params: nameParam,
      body: secretInput,
      answer: secret,
      run: ({ params, body }) =>
        secrets.set(params.name, body.value, { unlessDifferent: body.unless_different === true }),
    }),
    route({
      method: "delete",
      path: "/secrets/{name}",
      tag,
      id: "deleteSecret",
      summary: "Delete a secret; one that servers use only with force",
      params: nameParam,
      query: z.strictObject({ force: flag.optional() }),
      run: ({ params, query }) => secrets.delete(params.name, query),
    }),
  ];
}
