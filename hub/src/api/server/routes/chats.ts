// What agents may see of the chats of a chat server.

import { chatAccess, chatAccessInput } from "../../schemas/chat.ts";
import type { ChatCommands } from "../commands/chats.ts";
import { idParam, routesOf, type Route } from "../route.ts";

const { get, patch } = routesOf("chats");

export function chatRoutes(chats: ChatCommands): Route[] {
  return [
    get("/servers/{id}/chat", "getChatAccess", "What agents may see and write to, of a chat server", {
      params: idParam,
      answer: chatAccess,
      run: ({ params, signal }) => chats.access(params.id, signal),
    }),
    patch("/servers/{id}/chat", "changeChatAccess", "Hide a chat, let agents read it or write to it; redact messages", {
      params: idParam,
      body: chatAccessInput,
      answer: chatAccess,
      run: ({ params, body, signal }) => chats.change(params.id, body, signal),
    }),
  ];
}
