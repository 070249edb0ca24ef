// Groups.

import * as z from "zod/mini";
import type { GroupPreviews } from "../commands/group-previews.ts";
import type { GroupCommands } from "../commands/groups.ts";
import { BASE_PATH, rightsOf, nameParam, routesOf, type Route } from "../route.ts";
import { group, groupInput, groupPreview, groupPreviewInput, newGroup } from "../../schemas/group.ts";

const { get, post, put, remove } = routesOf("groups");

export function groupRoutes(groups: GroupCommands, previews: GroupPreviews): Route[] {
  return [
    get("/groups", "listGroups", "All groups", {
      answer: z.array(group),
      versioned: true,
      run: (call) => groups.listFor(rightsOf(call)),
    }),
    post("/groups", "createGroup", "Add a group", {
      body: newGroup,
      status: 201,
      answer: group,
      versioned: true,
      run: async ({ body, edit, setHeader }) => {
        const created = await groups.create(body.name, body, edit);
        setHeader("location", `${BASE_PATH}/groups/${encodeURIComponent(created.name)}`);
        return created;
      },
    }),
    post("/groups/preview", "previewGroup", "What a group would expose, compared with the saved one; saves nothing", {
      body: groupPreviewInput,
      answer: groupPreview,
      run: ({ body }) => previews.of(body),
    }),
    get("/groups/{name}", "getGroup", "One group", {
      params: nameParam,
      answer: group,
      versioned: true,
      run: (call) => groups.getFor(rightsOf(call), call.params.name),
    }),
    put("/groups/{name}", "setGroup", "Add or replace a group", {
      params: nameParam,
      body: groupInput,
      answer: group,
      versioned: true,
      run: ({ params, body, edit }) => groups.set(params.name, body, edit),
    }),
    remove("/groups/{name}", "deleteGroup", "Remove a group", {
      params: nameParam,
      versioned: true,
      run: ({ params, edit }) => groups.delete(params.name, edit),
    }),
  ];
}
