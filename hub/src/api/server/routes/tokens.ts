// Access tokens of the hub's clients.

import * as z from "zod/mini";
import { newToken, token, tokenInput } from "../../schemas/token.ts";
import type { TokenCommands } from "../commands/tokens.ts";
import { rightsOf, routesOf, type Route } from "../route.ts";

const { get, post, remove } = routesOf("tokens");

const idParam = z.strictObject({ id: z.string().check(z.minLength(1)) });

export function tokenRoutes(tokens: TokenCommands): Route[] {
  return [
    get("/tokens", "listTokens", "Access tokens that are valid, and when they were last used", {
      answer: z.array(token),
      run: (call) => tokens.list(rightsOf(call)),
    }),
    post("/tokens", "createToken", "Make an access token; it is shown only in this answer", {
      body: tokenInput,
      answer: newToken,
      status: 201,
      run: (call) => tokens.make(call.body, rightsOf(call)),
    }),
    remove("/tokens/{id}", "revokeToken", "Revoke an access token, by id or name; everything that it holds open ends", {
      params: idParam,
      run: async (call) => {
        await tokens.revoke(call.params.id, rightsOf(call));
      },
    }),
  ];
}
