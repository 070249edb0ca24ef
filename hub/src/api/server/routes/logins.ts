// Logins at servers. No route returns a token.

import * as z from "zod/mini";
import { describe } from "../../schemas/docs.ts";
import { login, loginAttempt, loginCallback, loginInput, logoutResult, takenLogin } from "../../schemas/login.ts";
import type { LoginCommands } from "../commands/logins.ts";
import { BASE_PATH, idParam, routesOf, type Route } from "../route.ts";

const { get, post, remove } = routesOf("logins");
const attemptParam = z.strictObject({
  login: describe(z.string().check(z.minLength(1)), "Id of an attempt to log in"),
});

export function loginRoutes(logins: LoginCommands): Route[] {
  return [
    post(
      "/servers/{id}/login",
      "beginLogin",
      "Begin a login; the person continues at `url`, or enters `user_code` at `verification_uri`",
      {
        params: idParam,
        body: loginInput,
        status: 201,
        answer: loginAttempt,
        run: async ({ params, body, setHeader }) => {
          const begun = await logins.begin(params.id, body);
          setHeader("location", `${BASE_PATH}/logins/${begun.id}`);
          return begun;
        },
      },
    ),
    remove(
      "/servers/{id}/login",
      "logout",
      "Revoke the tokens of a login if the authorization server can, and forget them",
      {
        params: idParam,
        answer: logoutResult,
        run: ({ params }) => logins.logout(params.id),
      },
    ),
    post("/servers/{id}/login/refresh", "refreshLogin", "Get new tokens now", {
      params: idParam,
      answer: login,
      run: ({ params }) => logins.refresh(params.id),
    }),
    post(
      "/servers/{id}/login/import",
      "importLogin",
      "Continue the login of another program, which used the client of the entry",
      {
        params: idParam,
        body: takenLogin,
        answer: login,
        run: ({ params, body }) => logins.takeOver(params.id, body),
      },
    ),
    get("/logins", "listLogins", "The logins at all servers", {
      answer: z.array(login),
      run: () => logins.list(),
    }),
    get("/logins/{login}", "getLoginAttempt", "Progress of one attempt to log in", {
      params: attemptParam,
      answer: loginAttempt,
      run: ({ params }) => logins.find(params.login),
    }),
    post(
      "/logins/{login}/callback",
      "finishLogin",
      "Finish an attempt with the address that the browser arrived at, for a browser on another machine",
      {
        params: attemptParam,
        body: loginCallback,
        answer: loginAttempt,
        run: ({ params, body }) => logins.callback(params.login, body.url),
      },
    ),
    remove("/logins/{login}", "cancelLogin", "Cancel an attempt", {
      params: attemptParam,
      run: ({ params }) => logins.cancel(params.login),
    }),
  ];
}
