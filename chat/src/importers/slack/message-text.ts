// Text of a message including its blocks and attachments, which apps and shared messages use.

import { type Fields, fieldsOf, listOf, textOf } from "../fields.ts";

/** Nesting limit of blocks, above Slack's own. */
const MAX_DEPTH = 8;

/** The text, followed by what only the blocks and attachments contain, in Slack markup. */
export function messageText(message: Fields): string {
  const text = textOf(message["text"]) ?? "";
  const parts = text === "" ? [] : [text];
  // Typed messages contain the same text twice: as text and as a rich text block.
  const add = (part: string): void => {
    if (part !== "" && !parts.some((known) => known.includes(part))) parts.push(part);
  };
  for (const block of listOf(message["blocks"])) {
    if (text === "" || fieldsOf(block)?.["type"] !== "rich_text") for (const part of blockWords(block)) add(part);
  }
  for (const attachment of listOf(message["attachments"])) for (const part of attachmentWords(attachment)) add(part);
  return parts.join("\n");
}

function attachmentWords(attachment: unknown): readonly string[] {
  const fields = fieldsOf(attachment);
  if (fields === undefined) return [];
  const table = listOf(fields["fields"]).map((field) => {
    const { title, value } = fieldsOf(field) ?? {};
    return [textOf(title), textOf(value)].filter((part) => part !== undefined).join(": ");
  });
  const blocks = [...listOf(fields["blocks"]), ...listOf(fields["message_blocks"])].flatMap((block) =>
    blockWords(block),
  );
  const words = [textOf(fields["pretext"]), textOf(fields["title"]), textOf(fields["text"]), ...blocks, ...table];
  const found = words.flatMap((word) => (word === undefined || word === "" ? [] : [word]));
  return found.length > 0 ? found : [textOf(fields["fallback"]) ?? ""];
}

/** One line per paragraph. */
function blockWords(block: unknown, depth = 0): readonly string[] {
  const fields = fieldsOf(block);
  if (fields === undefined || depth > MAX_DEPTH) return [];
  if (fields["type"] === "rich_text_section" || fields["type"] === "rich_text_preformatted") {
    return [listOf(fields["elements"]).map(inlineWords).join("")];
  }
  const own = textOf(fields["text"]) ?? textOf(fieldsOf(fields["text"])?.["text"]);
  const inside = ["title", "fields", "elements", "message"].flatMap((name) => {
    const value = fields[name];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => blockWords(one, depth + 1));
  });
  return own === undefined ? inside : [own, ...inside];
}

/** Converts a rich text element to the equivalent markup. */
function inlineWords(element: unknown): string {
  const fields = fieldsOf(element) ?? {};
  const text = textOf(fields["text"]);
  switch (fields["type"]) {
    case "user":
      return `<@${textOf(fields["user_id"]) ?? ""}>`;
    case "channel":
      return `<#${textOf(fields["channel_id"]) ?? ""}>`;
    case "broadcast":
      return `<!${textOf(fields["range"]) ?? ""}>`;
    case "emoji":
      return `:${textOf(fields["name"]) ?? ""}:`;
    case "link":
      return text === undefined ? (textOf(fields["url"]) ?? "") : `<${textOf(fields["url"]) ?? ""}|${text}>`;
    default:
      return text ?? "";
  }
}
