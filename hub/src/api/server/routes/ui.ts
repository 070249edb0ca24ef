// Browsers of the web interface: links to sign in, identity providers, and sessions.

import * as z from "zod/mini";
import { SIGN_IN_MS } from "../../../auth/sso/sign-ins.ts";
import type { UiCommands } from "../commands/ui.ts";
import { SESSION, setCookie, SIGN_IN } from "../browser/cookie.ts";
import { routesOf, type Route } from "../route.ts";
import {
  signInProvider,
  uiKey,
  uiSession,
  uiSessionEntry,
  uiSignedIn,
  uiSignedOut,
  uiSignIn,
  uiSignInBegun,
  uiSignInStart,
} from "../../schemas/ui.ts";

const { get, post, remove } = routesOf("ui");

const idParam = z.strictObject({ id: z.string().check(z.minLength(1)) });

export function uiRoutes(ui: UiCommands): Route[] {
  return [
    post("/ui/keys", "createUiKey", "Make a link that signs a browser in, once, within ten minutes", {
      status: 201,
      answer: uiKey,
      run: ({ url, session }) => ui.makeKey(new URL(url).origin, session),
    }),
    get("/ui/providers", "listSignInProviders", "The identity providers by which people may sign in", {
      isOpen: true,
      answer: z.array(signInProvider),
      run: () => ui.providers(),
    }),
    post("/ui/sign-ins", "beginSignIn", "Begin a sign-in by an identity provider; also sets a cookie", {
      isOpen: true,
      status: 201,
      body: uiSignInStart,
      answer: uiSignInBegun,
      run: async ({ body, header, setHeader, response: { req } }) => {
        const { answer, cookie } = await ui.beginSignIn(body, req);
        setHeader("set-cookie", setCookie(header, { kind: SIGN_IN, value: cookie, ageMs: SIGN_IN_MS }));
        return answer;
      },
    }),
    post("/ui/session", "signIn", "Sign a browser in by the key of a link; also sets a cookie", {
      isOpen: true,
      body: uiSignIn,
      answer: uiSignedIn,
      run: async ({ body, header, setHeader, response: { req } }) => {
        const { answer, cookie, ageMs } = await ui.signIn({ key: body.key, request: req });
        setHeader("set-cookie", setCookie(header, { kind: SESSION, value: cookie, ageMs }));
        return answer;
      },
    }),
    get("/ui/session", "getUiSession", "The session of this browser", {
      answer: uiSession,
      run: ({ session }) => ui.current(session),
    }),
    remove("/ui/session", "signOut", "Sign this browser out", {
      answer: uiSignedOut,
      run: async (call) => {
        const answer = await ui.signOut(call);
        call.setHeader("set-cookie", setCookie(call.header, { kind: SESSION, value: undefined }));
        return answer;
      },
    }),
    get("/ui/sessions", "listUiSessions", "The browsers that are signed in: one's own, for an administrator all", {
      answer: z.array(uiSessionEntry),
      run: (call) => ui.list(call),
    }),
    remove("/ui/sessions", "signOutAll", "Sign all of one's browsers out, or as an administrator those of everyone", {
      run: async (call) => {
        await ui.signOutAll(call);
        if (call.session !== undefined)
          call.setHeader("set-cookie", setCookie(call.header, { kind: SESSION, value: undefined }));
      },
    }),
    remove("/ui/sessions/{id}", "endUiSession", "Sign one browser out", {
      params: idParam,
      run: (call) => ui.end(call.params.id, call),
    }),
  ];
}
