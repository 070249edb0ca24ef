// A hub inside a program: two servers, and a group with some of their tools.

import { createHub } from "plugboard";

const hub = await createHub({
  config: {
    mcpServers: {
      everything: { command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] },
      memory: "npx -y @modelcontextprotocol/server-memory",
    },
    groups: { reading: { servers: ["memory"], tools: ["read_*", "search_*", "open_*"] } },
  },
});

try {
  await hub.servers.startAll();
  for (const { name } of hub.servers.list()) console.log(`${name}: ${hub.servers.status(name).state}`);

  const names = hub
    .functionCalling("reading")
    .anthropic()
    .map((tool) => tool.name);
  console.log(`The group "reading" has: ${names.toSorted().join(", ")}`);

  const { content } = await hub.callTool("everything", "get-sum", { a: 2, b: 3 });
  console.log(`2 + 3: ${content}`);
} finally {
  await hub.close();
}
