// OAuth clients that use the hub.

import * as z from "zod/mini";
import type { Grant } from "../../../auth/grant.ts";
import { HubError } from "../../../errors.ts";
import { accessRequest, clientGrant, grantInput, newGrant } from "../../schemas/oauth.ts";
import type { OAuthCommands } from "../commands/oauth.ts";
import { routesOf, type Call, type Route } from "../route.ts";

const { get, post, remove } = routesOf("oauth");

const codeParam = z.strictObject({ code: z.string().check(z.minLength(1)) });
const idParam = z.strictObject({ id: z.string().check(z.minLength(1)) });

export function oauthRoutes(oauth: OAuthCommands): Route[] {
  return [
    get(
      "/oauth/requests/{code}",
      "getAccessRequest",
      "What an OAuth client asks for, by the code that its page shows",
      {
        params: codeParam,
        answer: accessRequest,
        run: ({ params }) => oauth.request(params.code),
      },
    ),
    post(
      "/oauth/requests/{code}/approve",
      "approveAccessRequest",
      "Sign in the browser that shows a code, as the caller; the consent of the person follows there",
      {
        params: codeParam,
        answer: accessRequest,
        run: ({ params, grant }) => oauth.approve(params.code, callerOf(grant)),
      },
    ),
    get("/grants", "listGrants", "OAuth clients that have access: one's own, and for administrators those of all", {
      answer: z.array(clientGrant),
      run: ({ grant }) => oauth.grants(callerOf(grant)),
    }),
    post("/grants", "createGrant", "Give a program access by client credentials, which are in the answer only", {
      body: grantInput,
      answer: newGrant,
      status: 201,
      run: ({ body, grant }) => oauth.addProgram(body, callerOf(grant)),
    }),
    remove("/grants/{id}", "revokeGrant", "End the access of an OAuth client, and everything that it holds open", {
      params: idParam,
      run: ({ params, grant }) => oauth.revoke(params.id, callerOf(grant)),
    }),
  ];
}

function callerOf(grant: Call<unknown, unknown, unknown>["grant"]): Grant {
  if (grant === undefined) throw new HubError("Unauthenticated", "This address needs credentials");
  return grant;
}
