// `find_contact`: people by name, number or username, with their addresses on every source.

import { z } from "zod";
import { findPeople } from "../access/people.ts";
import { PersonShape } from "../model/shapes.ts";
import { tool } from "./tool.ts";

export const findContact = tool({
  name: "find_contact",
  title: "Find a contact",
  description:
    "Finds people by part of their name, number or username, with their addresses on every source. Use an address as sender " +
    "in get_messages.",
  input: z.strictObject({ query: z.string().min(1), limit: z.int().min(1).max(100).default(20) }),
  output: z.object({ people: z.array(PersonShape) }),
  run: ({ query, limit }, { app: { reader } }) => {
    const people = findPeople(reader, query, limit).map((person) => reader.presenter.person(person));
    const lines = people.map(
      ({ name, addresses }) => `${name}: ${addresses.map(({ source, id }) => `${source} ${id}`).join(", ")}`,
    );
    return { structured: { people }, text: lines.length === 0 ? "(nobody)" : lines.join("\n") };
  },
});
