// Logins at servers. No route returns a token.

import * as z from "zod/mini";
import { OWNER } from "../../../auth/grant.ts";
import { bindBrowser } from "../../../http/pages/login-cookie.ts";
import { describe } from "../../schemas/docs.ts";
import {
  login,
  loginAttempt,
  loginCallback,
  loginInput,
  logoutResult,
  onBehalfQuery,
  takenLogin,
} from "../../schemas/login.ts";
import type { LoginCommands } from "../commands/logins.ts";
import { BASE_PATH, idParam, rightsOf, routesOf, type Route } from "../route.ts";

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
        run: async (call) => {
          const { params, body, setHeader } = call;
          const rights = rightsOf(call);
          // The owner's browser may be another one than that of the web interface, as with the command.
          const own = call.session === undefined || rights.principal === OWNER ? undefined : bindBrowser();
          const via = own === undefined ? {} : { browser: own.digest, redirectHost: localHost(call.header("host")) };
          const begun = await logins.begin(params.id, rights, body, via);
          if (own !== undefined) setHeader("set-cookie", own.cookieFor(begun.id));
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
        query: onBehalfQuery,
        answer: logoutResult,
        run: (call) => logins.logout(call.params.id, rightsOf(call), call.query.as),
      },
    ),
    post("/servers/{id}/login/refresh", "refreshLogin", "Get new tokens now", {
      params: idParam,
      query: onBehalfQuery,
      answer: login,
      run: (call) => logins.refresh(call.params.id, rightsOf(call), call.query.as),
    }),
    post(
      "/servers/{id}/login/import",
      "importLogin",
      "Continue the login of another program, which used the client of the entry",
      {
        params: idParam,
        body: takenLogin,
        answer: login,
        query: onBehalfQuery,
        run: (call) => logins.takeOver(call.params.id, rightsOf(call), call.body, call.query.as),
      },
    ),
    get("/logins", "listLogins", "The logins at all servers; a caller with the role user gets its own", {
      answer: z.array(login),
      run: (call) => logins.list(rightsOf(call)),
    }),
    get("/logins/{login}", "getLoginAttempt", "Progress of one attempt to log in", {
      params: attemptParam,
      answer: loginAttempt,
      run: (call) => logins.find(call.params.login, rightsOf(call)),
    }),
    post(
      "/logins/{login}/callback",
      "finishLogin",
      "Finish an attempt with the address that the browser arrived at, for a browser on another machine",
      {
        params: attemptParam,
        body: loginCallback,
        answer: loginAttempt,
        run: (call) => logins.callback(call.params.login, rightsOf(call), call.body.url),
      },
    ),
    remove("/logins/{login}", "cancelLogin", "Cancel an attempt", {
      params: attemptParam,
      run: (call) => logins.cancel(call.params.login, rightsOf(call)),
    }),
  ];
}

/** Cookies belong to a host: the browser has to come back to the one that it knows. Undefined: it is not on this machine. */
function localHost(host = ""): string | undefined {
  return /^(localhost|127\.0\.0\.1)(?::\d{1,5})?$/.exec(host)?.[1];
}
