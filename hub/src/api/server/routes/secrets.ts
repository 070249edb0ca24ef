// Secrets. No route returns a value.

import * as z from "zod/mini";
import type { SecretCommands } from "../commands/secrets.ts";
import { nameParam, routesOf, type Route } from "../route.ts";
import { flag } from "../../schemas/query.ts";
import { keyRotation, missingSecret, secret, secretInput } from "../../schemas/config.ts";

const { get, post, put, remove } = routesOf("secrets");

export function secretRoutes(secrets: SecretCommands): Route[] {
  return [
    get("/secrets", "listSecrets", "Names of all secrets, and the servers that use them", {
      answer: z.array(secret),
      run: () => secrets.list(),
    }),
    get("/secrets/missing", "listMissingSecrets", "Secrets that servers refer to and the store lacks", {
      answer: z.array(missingSecret),
      run: () => secrets.missing(),
    }),
    post("/secrets/rotate-key", "rotateSecretKey", "Encrypt all secrets with a new key; the old key becomes useless", {
      answer: keyRotation,
      run: () => secrets.rotateKey(),
    }),
    put(
      "/secrets/{name}",
      "setSecret",
      "Store a secret; servers that waited for it start, others use it from their next start",
      {
        params: nameParam,
        body: secretInput,
        answer: secret,
        run: ({ params, body }) =>
          secrets.set(params.name, body.value, { unlessDifferent: body.unless_different === true }),
      },
    ),
    remove("/secrets/{name}", "deleteSecret", "Delete a secret; one that servers use only with `force`", {
      params: nameParam,
      query: z.strictObject({ force: z.optional(flag()) }),
      run: ({ params, query }) => secrets.delete(params.name, query),
    }),
  ];
}
