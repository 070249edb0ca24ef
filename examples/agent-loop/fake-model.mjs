// Stands for a model: it calls the tool that adds, and repeats its result. The messages are those of Anthropic's API.

export async function think({ messages, tools }) {
  const last = messages.at(-1).content;
  if (Array.isArray(last)) return { content: [{ type: "text", text: last[0].content }] };
  const adder = tools.find((tool) => tool.name.endsWith("get-sum"));
  const [a, b] = last.match(/\d+/g).map(Number);
  return { content: [{ type: "tool_use", id: "toolu_1", name: adder.name, input: { a, b } }] };
}
