// Names and descriptions come from strangers. Characters that change how text looks without being seen are made visible.

export interface Part {
  readonly text: string;
  /** Stands for a character that would not be seen. */
  readonly mark: boolean;
}

// Controls but tab and line end; zero-width, bidirectional and tag characters. A joiner inside of an emoji is ordinary.
const UNSEEN = /(?![\t\n\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?<![\p{Extended_Pictographic}\uFE0F])\u200D/gu;

/** The text in parts; one part if there is nothing to mark, which is nearly always. */
export function visibleParts(text: string): readonly Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    if (index > from) parts.push({ text: text.slice(from, index), mark: false });
    parts.push({ text: nameOf(character), mark: true });
    from = index + character.length;
  }
  if (from < text.length || parts.length === 0) parts.push({ text: text.slice(from), mark: false });
  return parts;
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
