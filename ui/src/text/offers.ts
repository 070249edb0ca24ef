// Text of the resources and prompts of a server.

import { plural } from "../lib/text/format.ts";

export const resourcesText = {
  none: (server: string) => `${server} offers no resources.`,
  filter: "Filter resources",
  list: "Resources and templates",
  template: "template",
  choose: "Choose a resource to read it.",
  read: "Read",
  fill: "Fill in the template",
  address: "Address",
  subscribe: "Subscribe",
  unsubscribe: "Unsubscribe",
  updates: (n: number) => (n === 0 ? "no update yet" : plural(n, "update")),
  nothing: (words: string) => `No resource matches “${words}”.`,
  empty: "The resource is empty.",
};

export const promptsText = {
  none: (server: string) => `${server} offers no prompts.`,
  filter: "Filter prompts",
  list: "Prompts",
  choose: "Choose a prompt to fill it in.",
  get: "Show messages",
  noArguments: "This prompt takes no arguments.",
  messages: (n: number) => plural(n, "message"),
  nothing: (words: string) => `No prompt matches “${words}”.`,
};
