import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looksLikeMarkdown, parseInline, parseMarkdown, webUrl, type Block, type Inline } from "./markdown.ts";

/** A short notation of the tree. */
function show(nodes: readonly (Block | Inline)[]): string {
  return nodes
    .map((node) => {
      switch (node.kind) {
        case "text":
          return node.text;
        case "code":
          return `code(${node.text})`;
        case "break":
          return "br";
        case "image":
          return `image(${node.alt}, ${node.host})`;
        case "link":
          return `link(${show(node.children)} -> ${node.href})`;
        case "quote":
          return `quote(${show(node.blocks)})`;
        case "list":
          return `${node.start === undefined ? "ul" : `ol${node.start}`}(${node.items.map((item) => show(item)).join(" | ")})`;
        case "table":
          return `table(${[node.head, ...node.rows].map((row) => row.map(show).join(",")).join(" / ")})`;
        case "rule":
          return "hr";
        case "del":
        case "em":
        case "heading":
        case "paragraph":
        case "strong":
          return `${node.kind === "heading" ? `h${node.level}` : node.kind}(${show(node.children)})`;
      }
    })
    .join("");
}

describe("Markdown as nodes", () => {
  it.each([
    ["# Title #\ntext", "h1(Title)paragraph(text)"],
    ["a\nb\n\nc", "paragraph(a\nb)paragraph(c)"],
    ["**b** *i* ~~s~~ `c`", "paragraph(strong(b) em(i) del(s) code(c))"],
    ["snake_case_name and 2 * 3 * 4", "paragraph(snake_case_name and 2 * 3 * 4)"],
    ["- a\n- b\n  - c\n", "ul(paragraph(a) | paragraph(b)ul(paragraph(c)))"],
    ["3. a\n4. b", "ol3(paragraph(a) | paragraph(b))"],
    ["- a\n\n- b", "ul(paragraph(a) | paragraph(b))"],
    ["```ts\nconst a = '<b>';\n```\nafter", "code(const a = '<b>';)paragraph(after)"],
    ["```\nnever closed", "code(never closed)"],
    ["> quoted\n> more", "quote(paragraph(quoted\nmore))"],
    ["| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| 4 |", "table(a,b / 1,2 / 4,)"],
    ["---", "hr"],
    ["[text](https://a.example/x)", "paragraph(link(text -> https://a.example/x))"],
    ["see https://a.example/x.", "paragraph(see link(https://a.example/x -> https://a.example/x).)"],
    ["<https://a.example>", "paragraph(link(https://a.example -> https://a.example/))"],
    ["\\*not\\* a \\[link\\]", "paragraph(*not* a [link])"],
    ["**never closed", "paragraph(**never closed)"],
    ["a  \nb", "paragraph(a  brb)"],
  ])("%j", (text, expected) => {
    expect(show(parseMarkdown(text))).toBe(expected);
  });

  it.each([
    ["[click](javascript:alert(1))", "click (javascript:alert(1)"],
    ["[click](data:text/html,x)", "click (data:text/html,x)"],
    ["[click](file:///etc/passwd)", "click (file:///etc/passwd)"],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
  ])("%s stays text", (text, expected) => {
    expect(show(parseInline(text))).toContain(expected);
    expect(show(parseInline(text))).not.toContain("link(");
  });

  it("an image is named by its host and not loaded", () => {
    expect(show(parseInline("![logo](https://track.example/p.png?id=1)"))).toBe("image(logo, track.example)");
  });

  it("a link shows where it goes, whatever its label says", () => {
    const [link] = parseInline("[https://bank.example](https://evil.example/x)");
    expect(link).toMatchObject({ kind: "link", host: "evil.example" });
  });

  it("only web addresses are links", () => {
    expect(webUrl("https://a.example")?.host).toBe("a.example");
    expect([webUrl("javascript:1"), webUrl("//a"), webUrl("ftp://a"), webUrl("")]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("ends on any text, with bounded depth", () => {
    const piece = fc.constantFrom(
      "*",
      "_",
      "[",
      "](",
      ")",
      "`",
      "> ",
      "- ",
      "  ",
      "\n",
      "a",
      "|",
      "---",
      "#",
      "![",
      "~~",
      "https://a.b",
      "\\",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => void parseMarkdown(pieces.join(""))),
      { numRuns: 2000 },
    );
    for (const text of ["[", "*a", "> ", "- ", "![a](", "`", "_a ", "**a"]) {
      expect(() => parseMarkdown(text.repeat(20_000))).not.toThrow();
    }
  });

  it.each([
    ["plain words, nothing else", false],
    ["# Title", true],
    ["a\n- b", true],
    ["Echo: hello", false],
    ['{"a": 1}', false],
    ["see [x](https://a)", true],
  ])("%j looks like Markdown: %s", (text, expected) => {
    expect(looksLikeMarkdown(text)).toBe(expected);
  });
});
