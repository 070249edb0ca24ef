// Markdown of strangers as a tree of nodes, never as HTML. Links show their host; images are named, not loaded. Every loop moves
// forward, so the time is linear in the text.

export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "break" }
  | { readonly kind: "strong" | "em" | "del"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly href: string; readonly host: string; readonly children: readonly Inline[] }
  /** Not loaded: the request would tell a stranger that the answer was read. */
  | { readonly kind: "image"; readonly alt: string; readonly host: string };

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "list"; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

const MAX_NESTING = 8;

export function parseMarkdown(text: string): Block[] {
  return parseBlocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

/** Whether a text has marks that are worth rendering; otherwise it is shown as it is. */
export function looksLikeMarkdown(text: string): boolean {
  return text
    .split("\n", 400)
    .some(
      (line) =>
        HEADING.test(line) ||
        line.startsWith("```") ||
        BULLET.test(line) ||
        TABLE_RULE.test(line) ||
        INLINE_MARK.test(line),
    );
}

const HEADING = /^(#{1,6})\s+\S/;
const BULLET = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s+\S/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(?: +|$)/;
const TABLE_RULE = /^ {0,3}\|?(?: *:?-{3,}:? *\|)+(?: *:?-{3,}:? *)?$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const INLINE_MARK = /\*\*\S|\]\(https?:|`\S/;

function parseBlocks(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const found = line.trim() === "" ? { next: at + 1 } : blockAt(lines, at, depth);
    if ("block" in found && found.block !== undefined) blocks.push(found.block);
    at = found.next;
  }
  return blocks;
}

interface Found {
  readonly block?: Block;
  readonly next: number;
}

function blockAt(lines: readonly string[], at: number, depth: number): Found {
  const line = lines[at] ?? "";
  if (line.startsWith("```") || line.startsWith("~~~")) return codeAt(lines, at);
  const heading = HEADING.exec(line)?.[1];
  if (heading !== undefined) {
    const children = parseInline(withoutClosing(line.slice(heading.length).trim()));
    return { block: { kind: "heading", level: heading.length, children }, next: at + 1 };
  }
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (depth < MAX_NESTING && line.startsWith(">")) return quoteAt(lines, at, depth);
  if (depth < MAX_NESTING && ITEM.test(line)) return listAt(lines, at, depth);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return tableAt(lines, at);
  return paragraphAt(lines, at);
}

/** `## Title ##` */
function withoutClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end--;
  return end < text.length && (end === 0 || text[end - 1] === " ") ? text.slice(0, end).trimEnd() : text;
}

function codeAt(lines: readonly string[], at: number): Found {
  const fence = (lines[at] ?? "").slice(0, 3);
  const language = (lines[at] ?? "").slice(3).trim();
  let end = at + 1;
  while (end < lines.length && !(lines[end] ?? "").startsWith(fence)) end++;
  return { block: { kind: "code", language, text: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

function quoteAt(lines: readonly string[], at: number, depth: number): Found {
  let end = at;
  while (end < lines.length && (lines[end] ?? "").startsWith(">")) end++;
  const inner = lines.slice(at, end).map((line) => line.slice(line[1] === " " ? 2 : 1));
  return { block: { kind: "quote", blocks: parseBlocks(inner, depth + 1) }, next: end };
}

function listAt(lines: readonly string[], at: number, depth: number): Found {
  const first = ITEM.exec(lines[at] ?? "");
  const isOrdered = first?.[3] !== undefined;
  const items: Block[][] = [];
  let next = at;
  while (next < lines.length) {
    const mark = ITEM.exec(lines[next] ?? "");
    if (mark === null || (mark[3] !== undefined) !== isOrdered || RULE.test(lines[next] ?? "")) break;
    const width = mark[0].length;
    const inner = [(lines[next] ?? "").slice(width)];
    next++;
    while (next < lines.length && belongs(lines, next)) {
      inner.push(unindent(lines[next] ?? "", width));
      next++;
    }
    items.push(parseBlocks(inner, depth + 1));
    while (next + 1 < lines.length && lines[next]?.trim() === "" && ITEM.test(lines[next + 1] ?? "")) next++;
  }
  return { block: { kind: "list", start: isOrdered ? Number(first?.[3]) : undefined, items }, next };
}

/** Whether a line continues the item above: it is indented, or goes on with its paragraph. */
function belongs(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.trim() === "") return (lines[at + 1] ?? "").startsWith("  ");
  if (line.startsWith("  ")) return true;
  return (
    lines[at - 1]?.trim() !== "" &&
    !ITEM.test(line) &&
    !HEADING.test(line) &&
    !line.startsWith("```") &&
    !RULE.test(line)
  );
}

function unindent(line: string, width: number): string {
  let from = 0;
  while (from < width && line[from] === " ") from++;
  return line.slice(from);
}

function tableAt(lines: readonly string[], at: number): Found {
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|")) end++;
  const head = cellsOf(lines[at] ?? "");
  const rows = lines.slice(at + 2, end).map((line) => {
    const cells = cellsOf(line);
    return head.map((_, column) => cells[column] ?? []);
  });
  return { block: { kind: "table", head, rows }, next: end };
}

function cellsOf(line: string): Inline[][] {
  const trimmed = line.trim();
  const inner = trimmed.slice(trimmed.startsWith("|") ? 1 : 0, trimmed.endsWith("|") ? -1 : undefined);
  return inner.split("|").map((cell) => parseInline(cell.trim()));
}

function paragraphAt(lines: readonly string[], at: number): Found {
  let end = at + 1;
  while (end < lines.length && !startsBlock(lines[end] ?? "")) end++;
  return { block: { kind: "paragraph", children: parseInline(lines.slice(at, end).join("\n")) }, next: end };
}

function startsBlock(line: string): boolean {
  return (
    line.trim() === "" ||
    line.startsWith("```") ||
    line.startsWith("~~~") ||
    line.startsWith(">") ||
    HEADING.test(line) ||
    BULLET.test(line)
  );
}

const MARKS = [
  { mark: "**", kind: "strong" },
  { mark: "__", kind: "strong" },
  { mark: "~~", kind: "del" },
  { mark: "*", kind: "em" },
  { mark: "_", kind: "em" },
] as const;
const SPECIAL = /[\\`*_~[!<h\n]/g;
const ESCAPABLE = "\\`*_{}[]()#+-.!~>|<";

/** Emphasis, code, links and images of one block. */
export function parseInline(text: string, depth = 0): Inline[] {
  const nodes: Inline[] = [];
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain !== "") nodes.push({ kind: "text", text: plain });
    plain = "";
  };
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const special = SPECIAL.exec(text)?.index ?? text.length;
    plain += text.slice(at, special);
    at = special;
    if (at >= text.length) break;
    const found = inlineAt(text, at, depth);
    if (found === undefined) {
      plain += text[at] ?? "";
      at++;
    } else {
      if (typeof found.node === "string") plain += found.node;
      else {
        flush();
        nodes.push(found.node);
      }
      at = found.next;
    }
  }
  flush();
  return nodes;
}

interface FoundInline {
  readonly node: Inline | string;
  readonly next: number;
}

function inlineAt(text: string, at: number, depth: number): FoundInline | undefined {
  switch (text[at] ?? "") {
    case "\\": {
      const next = text[at + 1] ?? "";
      return next !== "" && ESCAPABLE.includes(next) ? { node: next, next: at + 2 } : undefined;
    }
    case "\n":
      return text.endsWith("  ", at) ? { node: { kind: "break" }, next: at + 1 } : { node: "\n", next: at + 1 };
    case "`":
      return codeSpan(text, at);
    case "!":
      return text[at + 1] === "[" ? imageAt(text, at) : undefined;
    case "[":
      return depth < MAX_NESTING ? linkAt(text, at, depth) : undefined;
    case "<":
      return angleLink(text, at);
    case "h":
      return bareLink(text, at);
    default:
      return depth < MAX_NESTING ? emphasisAt(text, at, depth) : undefined;
  }
}

function codeSpan(text: string, at: number): FoundInline | undefined {
  let ticks = 1;
  while (text[at + ticks] === "`") ticks++;
  const fence = "`".repeat(ticks);
  const end = text.indexOf(fence, at + ticks);
  if (end === -1) return { node: fence, next: at + ticks };
  return { node: { kind: "code", text: text.slice(at + ticks, end).trim() }, next: end + ticks };
}

function emphasisAt(text: string, at: number, depth: number): FoundInline | undefined {
  for (const { mark, kind } of MARKS) {
    if (!text.startsWith(mark, at)) continue;
    const from = at + mark.length;
    // snake_case is no emphasis, and a mark before a blank is only a character.
    if (/\s/.test(text[from] ?? " ") || (mark.startsWith("_") && /\w/.test(text[at - 1] ?? ""))) return undefined;
    const end = closing(text, mark, from);
    if (end === -1) return { node: mark, next: from };
    return { node: { kind, children: parseInline(text.slice(from, end), depth + 1) }, next: end + mark.length };
  }
  return undefined;
}

function closing(text: string, mark: string, from: number): number {
  // Bounded, so that many unclosed marks do not each search to the end.
  const limit = Math.min(text.length, from + 2000);
  for (let end = text.indexOf(mark, from + 1); end !== -1 && end < limit; end = text.indexOf(mark, end + 1)) {
    const isBlankBefore = /\s/.test(text[end - 1] ?? " ");
    const isInWord = mark.startsWith("_") && /\w/.test(text[end + mark.length] ?? "");
    const isLonger = mark.length === 1 && (text[end + 1] === mark || text[end - 1] === mark);
    if (!isBlankBefore && !isInWord && !isLonger) return end;
  }
  return -1;
}

interface Target {
  readonly label: string;
  readonly address: string;
  readonly next: number;
}

/** `[label](address "title")` from its bracket. */
function targetAt(text: string, at: number): Target | undefined {
  const close = closingBracket(text, at);
  if (close === -1 || text[close + 1] !== "(") return undefined;
  const end = text.indexOf(")", close + 2);
  if (end === -1 || end - close > 4000) return undefined;
  const address =
    text
      .slice(close + 2, end)
      .trim()
      .split(/\s/, 1)[0] ?? "";
  return { label: text.slice(at + 1, close), address, next: end + 1 };
}

function closingBracket(text: string, at: number): number {
  let open = 0;
  const limit = Math.min(text.length, at + 2000);
  for (let index = at; index < limit; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === "[") open++;
    else if (text[index] === "]" && --open === 0) return index;
  }
  return -1;
}

function linkAt(text: string, at: number, depth: number): FoundInline | undefined {
  const target = targetAt(text, at);
  if (target === undefined) return undefined;
  const url = webUrl(target.address);
  // An address that is not of the web stays text, in full: nothing is hidden behind a label.
  if (url === undefined) return { node: `${target.label} (${target.address})`, next: target.next };
  const children = parseInline(target.label, depth + 1).flatMap(withoutLinks);
  return { node: { kind: "link", href: url.href, host: url.host, children }, next: target.next };
}

function withoutLinks(node: Inline): readonly Inline[] {
  return node.kind === "link" ? node.children : [node];
}

function imageAt(text: string, at: number): FoundInline | undefined {
  const target = targetAt(text, at + 1);
  if (target === undefined) return undefined;
  const host = webUrl(target.address)?.host ?? target.address.slice(0, 60);
  return { node: { kind: "image", alt: target.label, host }, next: target.next };
}

function angleLink(text: string, at: number): FoundInline | undefined {
  const end = text.indexOf(">", at);
  if (end === -1 || end - at > 2000) return undefined;
  const url = webUrl(text.slice(at + 1, end));
  return url === undefined ? undefined : { node: plainLink(url, text.slice(at + 1, end)), next: end + 1 };
}

const BARE_URL = /https?:\/\/[^\s<>()[\]"'`]+/y;

function bareLink(text: string, at: number): FoundInline | undefined {
  if (/\w/.test(text[at - 1] ?? " ")) return undefined;
  BARE_URL.lastIndex = at;
  let found = BARE_URL.exec(text)?.[0] ?? "";
  while (found !== "" && ".,;:!?*_".includes(found.at(-1) ?? "x")) found = found.slice(0, -1);
  const url = found === "" ? undefined : webUrl(found);
  return url === undefined ? undefined : { node: plainLink(url, found), next: at + found.length };
}

function plainLink(url: URL, shown: string): Inline {
  return { kind: "link", href: url.href, host: url.host, children: [{ kind: "text", text: shown }] };
}

/** Only http and https: never javascript, data or a program of this machine. */
export function webUrl(address: string): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && (url.protocol === "https:" || url.protocol === "http:") ? url : undefined;
}
