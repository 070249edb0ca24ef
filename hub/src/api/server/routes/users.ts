// Users, and who the caller is.

import * as z from "zod/mini";
import { me, user, userPatch } from "../../schemas/user.ts";
import { describe } from "../../schemas/docs.ts";
import type { UserCommands } from "../commands/users.ts";
import { rightsOf, routesOf, type Route } from "../route.ts";

const { get, patch, remove } = routesOf("users");

const userParam = z.strictObject({
  id: describe(z.string().check(z.minLength(1)), "Id or verified email address of a user"),
});

export function userRoutes(users: UserCommands): Route[] {
  return [
    get("/me", "getMe", "Who the caller is, and what it may do", {
      answer: me,
      run: (call) => users.me(rightsOf(call)),
    }),
    get("/users", "listUsers", "Everyone who has signed in", {
      answer: z.array(user),
      run: () => users.list(),
    }),
    get("/users/{id}", "getUser", "One user", {
      params: userParam,
      answer: user,
      run: ({ params }) => users.get(params.id),
    }),
    patch("/users/{id}", "changeUser", "Give a role, disable or enable; what the user holds open ends", {
      params: userParam,
      body: userPatch,
      answer: user,
      run: ({ params, body }) => users.change(params.id, body),
    }),
    remove("/users/{id}", "removeUser", "Forget a user and revoke the user's tokens", {
      params: userParam,
      run: (call) => users.remove(call.params.id, rightsOf(call).principal),
    }),
  ];
}
