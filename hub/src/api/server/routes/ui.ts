// Browsers of the web interface: links to sign in, and sessions.

import * as z from "zod/mini";
import type { UiCommands } from "../commands/ui.ts";
import { cookiesOf, setCookie } from "../browser/cookie.ts";
import { routesOf, type Route } from "../route.ts";
import { uiKey, uiSession, uiSessionEntry, uiSignedIn, uiSignIn } from "../../schemas/ui.ts";

const { get, post, remove } = routesOf("ui");

export function uiRoutes(ui: UiCommands): Route[] {
  return [
    post("/ui/keys", "createUiKey", "Make a link that signs a browser in, once, within ten minutes", {
      status: 201,
      answer: uiKey,
      run: ({ url, session }) => ui.makeKey(new URL(url).origin, session),
    }),
    post("/ui/session", "signIn", "Sign a browser in by the key of a link; also sets a cookie", {
      isOpen: true,
      body: uiSignIn,
      answer: uiSignedIn,
      run: async ({ body, header, setHeader, response: { req } }) => {
        const { answer, cookie } = await ui.signIn({
          key: body.key,
          source: req.socket.remoteAddress ?? "",
          userAgent: header("user-agent") ?? "",
          cookies: cookiesOf(req.headers),
        });
        setHeader("set-cookie", setCookie(header, cookie));
        return answer;
      },
    }),
    get("/ui/session", "getUiSession", "The session of this browser", {
      answer: uiSession,
      run: ({ session }) => ui.current(session),
    }),
    remove("/ui/session", "signOut", "Sign this browser out", {
      run: async ({ session, header, setHeader, response }) => {
        await ui.signOut(session, response);
        setHeader("set-cookie", setCookie(header, undefined));
      },
    }),
    get("/ui/sessions", "listUiSessions", "All browsers that are signed in", {
      answer: z.array(uiSessionEntry),
      run: ({ session }) => ui.list(session),
    }),
    remove("/ui/sessions", "signOutAll", "Sign all browsers out", {
      run: async ({ session, header, setHeader, response }) => {
        await ui.signOutAll(response);
        if (session !== undefined) setHeader("set-cookie", setCookie(header, undefined));
      },
    }),
  ];
}
