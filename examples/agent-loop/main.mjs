// An agent loop: the model gets the tools of the hub and calls them until it has an answer.

import { createHub } from "plugboard";
import { think } from "./fake-model.mjs";

const hub = await createHub({
  config: { mcpServers: { everything: "npx -y @modelcontextprotocol/server-everything" } },
});

try {
  await hub.servers.startAll();
  const tools = hub.functionCalling();
  const messages = [{ role: "user", content: "What is 2 + 40?" }];

  for (let answered = false; !answered;) {
    // With the SDK of Anthropic: await anthropic.messages.create({ model, max_tokens, messages, tools: tools.anthropic() })
    const { content } = await think({ messages, tools: tools.anthropic() });
    messages.push({ role: "assistant", content });

    const calls = content.filter((block) => block.type === "tool_use");
    for (const call of calls) console.log(`model: call ${call.name} ${JSON.stringify(call.input)}`);
    for (const block of content) if (block.type === "text") console.log(`model: ${block.text}`);

    // A tool that fails gives the model its error, so that it can try something else.
    const results = await Promise.all(calls.map((call) => tools.runAnthropic(call)));
    for (const result of results) console.log(`tool:  ${result.content}`);
    if (results.length > 0) messages.push({ role: "user", content: results });
    answered = results.length === 0;
  }
} finally {
  await hub.close();
}
