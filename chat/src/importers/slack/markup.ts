// Converts Slack markup to text: `<@U1>`, `<url|label>`, and the three escaped characters.

export function plainText(text: string, nameOf: (user: string) => string): string {
  return text
    .replaceAll(/<([^<>]+)>/g, (_, inside: string) => reference(inside, nameOf))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function reference(inside: string, nameOf: (user: string) => string): string {
  const [target = "", words] = inside.split("|", 2);
  if (target.startsWith("@")) return `@${words ?? nameOf(target.slice(1))}`;
  if (target.startsWith("#")) return `#${words ?? target.slice(1)}`;
  if (target.startsWith("!")) return words ?? `@${target.slice(1).split("^")[0] ?? ""}`;
  return words === undefined || words === target ? target.replace(/^mailto:/, "") : `${words} (${target})`;
}
