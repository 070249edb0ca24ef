// Groups.

import { z } from "@hono/zod-openapi";
import type { GroupCommands } from "../commands/groups.ts";
import { BASE_PATH, nameParam, route, type Route } from "../route.ts";
import { group, groupInput, newGroup } from "../schemas/group.ts";

const tag = "groups";

export function groupRoutes(groups: GroupCommands): Route[] {
  return [
    route({
      method: "get",
      path: "/groups",
      tag,
      id: "listGroups",
      summary: "All groups",
      answer: z.array(group),
      versioned: true,
      run: () => groups.list(),
    }),
    route({
      method: "post",
      path: "/groups",
      tag,
      id: "createGroup",
      summary: "Add a group",
      body: newGroup,
      status: 201,
      answer: group,
      versioned: true,
      keyed: true,
      run: async ({ body, edit, setHeader }) => {
        const created = await groups.create(body.name, body, edit);
        setHeader("location", `${BASE_PATH}/groups/${encodeURIComponent(created.name)}`);
        return created;
      },
    }),
    route({
      method: "get",
      path: "/groups/{name}",
      tag,
      id: "getGroup",
      summary: "One group",
      params: nameParam,
      answer: group,
      versioned: true,
      run: ({ params }) => groups.get(params.name),
    }),
    route({
      method: "put",
      path: "/groups/{name}",
      tag,
      id: "setGroup",
      summary: "Add a group or replace it",
      params: nameParam,
      body: groupInput,
      answer: group,
      versioned: true,
      run: ({ params, body, edit }) => groups.set(params.name, body, edit),
    }),
    route({
      method: "delete",
      path: "/groups/{name}",
      tag,
      id: "deleteGroup",
      summary: "Remove a group",
      params: nameParam,
      versioned: true,
      run: ({ params, edit }) => groups.delete(params.name, edit),
    }),
  ];
}
