// Text of the page My groups.

export const myGroups = {
  title: "My groups",
  intro:
    "The groups of tools that you may use. Give the address of one to your client: Claude, Cursor, VS Code and others.",
  none: "No group is open to you. Ask an administrator of this hub.",
  noDescription: "–",
  columns: { name: "Group", description: "Description", tools: "Tools", address: "Address" },
  addressOf: (name: string) => `the address of ${name}`,
  connect: "A client that knows OAuth logs in by itself. For any other one, make an access token.",
  calls: "My calls",
  tokens: "My access tokens",
};
